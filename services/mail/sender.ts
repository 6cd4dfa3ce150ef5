// The sender of all mail, as MAIL_FROM names it, and the return path of one message.
import Joi from 'joi';

export interface Sender {
  address: string;
  domain: string;
}

/** `billing@example.com`, or `Name <billing@example.com>`. Each account has a name of its own, so this one is not used. */
const FORM = /^(?:[^<>"\\\p{Cc}]{1,100} <([^<>\s]+)>|([^<>\s]+))$/u;
const ADDRESS = Joi.string().email({ tlds: false }).max(254).required();

/** Returns undefined for a text that is no sender. */
export function readSender(text: string): Sender | undefined {
  const [, named, bare] = FORM.exec(text) ?? [];
  const address = named ?? bare;
  if (address === undefined || ADDRESS.validate(address).error) return undefined;
  return { address, domain: address.slice(address.lastIndexOf('@') + 1) };
}

/** Returns the address to which a delivery report of this message goes. */
export function returnPathOf(
  messageId: string,
  sender: Pick<Sender, 'address'>,
  bounceDomain: string | undefined,
): string {
  return bounceDomain === undefined ? sender.address : `bounce+${messageId}@${bounceDomain}`;
}
