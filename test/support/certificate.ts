// A certificate for `localhost` that this process trusts when a test wants it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export interface Certified {
  key: Buffer;
  cert: Buffer;
  /** Trusts the certificate, as NODE_EXTRA_CA_CERTS would. */
  trust(): void;
  distrust(): void;
}

/** @param names further ones, such as `IP:127.0.0.1`. */
export function certifyLocalhost(...names: string[]): Certified {
  const own = getCACertificates('default');
  const folder = mkdtempSync(join(tmpdir(), 'billhook-tls-'));
  try {
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
    const alternatives = `subjectAltName=${['DNS:localhost', ...names].join()}`;
    const subject = ['-subj', '/CN=localhost', '-addext', alternatives, '-days', '2'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
      stdio: 'ignore',
    });
    const key = readFileSync(join(folder, 'key.pem'));
    const cert = readFileSync(join(folder, 'cert.pem'));
    return {
      key,
      cert,
      trust: () => setDefaultCACertificates([...own, String(cert)]),
      distrust: () => setDefaultCACertificates(own),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
