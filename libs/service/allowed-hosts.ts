// Decides for which host names an internal port responds, so that no public name can be pointed at it (DNS rebinding).
import { isIP } from 'node:net';

/** Names that cannot be registered in the public DNS: without a dot, of this machine, or of a Kubernetes service. */
const PRIVATE_NAME = /^(?:[\w-]+|[\w.-]+\.(?:localhost|svc|svc\.cluster\.local))$/;

/**
 * Returns a function that tells if a `Host` header is allowed. A web page can point a public name of its own at an
 * internal port, and would read it through the visitor's browser. It cannot choose an IP address as the host, so
 * addresses are allowed.
 * @param names further allowed names, separated by commas.
 */
export function judgeHost(names = ''): (host: string) => boolean {
  const allowed = new Set(names.toLowerCase().split(','));
  return (host) => {
    const name = host.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase();
    const isAddress = isIP(name.replace(/^\[|\]$/g, '')) !== 0;
    return name !== '' && (isAddress || PRIVATE_NAME.test(name) || allowed.has(name));
  };
}
