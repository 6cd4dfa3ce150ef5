// A request that the dashboard rejects, with the message for the operator.

export class DashboardError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'DashboardError';
    this.status = status;
  }
}
