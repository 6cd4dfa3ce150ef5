// The state of the last mail of an invoice or a quote, as its record keeps it.
import { requiredIdField, type StoredId } from '../tenant.ts';

export interface DocumentDelivery {
  /** The state of the message, or the worst that came back from one of its recipients. */
  state: string;
  message_id: StoredId;
  /** The time of the last change of the state. */
  at: Date;
}

/** The declaration of this field in a mongoose schema. */
export const deliveryField = {
  type: { _id: false, state: String, message_id: requiredIdField, at: Date },
  default: undefined,
};

/** Returns the delivery in the form of the API. Null for a document that was never mailed. */
export function documentDeliveryView({ delivery }: { delivery?: DocumentDelivery | undefined }) {
  if (!delivery) return null;
  return { state: delivery.state, last_message_id: String(delivery.message_id), at: delivery.at.toISOString() };
}
