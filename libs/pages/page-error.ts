// The error of a request for a page, with the message for the person who made it.

export class PageError extends Error {
  readonly status: number;

  /** Makes the error. @param options.cause for the log. */
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PageError';
    this.status = status;
  }
}
