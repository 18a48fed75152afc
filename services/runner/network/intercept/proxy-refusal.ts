/** A request that the proxy answers itself. The message is sent to the client and contains no secret. */
export class ProxyRefusal extends Error {
  readonly status: 400 | 403 | 501 | 502 | 503;

  constructor(status: ProxyRefusal['status'], message: string) {
    super(message);
    this.status = status;
  }
}
