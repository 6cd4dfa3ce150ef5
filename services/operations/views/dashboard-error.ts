// The error of a request that the dashboard rejects, with the message for the operator.

export class DashboardError extends Error {
  readonly status: number;

  /** Makes the error. @param options.cause for the log. */
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DashboardError';
    this.status = status;
  }
}
