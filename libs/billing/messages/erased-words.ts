// The update that erases the words and addresses of a message.
import { ERASED_ADDRESS } from '../../models/accounts/client-erasure.ts';

/** The subject and texts of an erased message are empty, because a message has them. */
export const ERASED_WORDS = {
  $set: { subject: '', subject_template: '', body_template: '', 'recipients.$[].address': ERASED_ADDRESS },
  $unset: { 'recipients.$[].text': 1, 'attempts.$[].text': 1, texts: 1 },
} as const;
