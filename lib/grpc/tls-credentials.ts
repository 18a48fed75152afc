import { isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext } from 'node:tls';
import { CallCredentials, ChannelCredentials, type experimental, ServerCredentials } from '@grpc/grpc-js';
import type { TlsMaterial } from './tls-files.ts';

type SecureConnector = experimental.SecureConnector;
type SecureConnectResult = experimental.SecureConnectResult;

const optionsOf = ({ cert, key, ca }: TlsMaterial) => ({ cert, key, ca });

/** The credentials of servers. They accept only clients with a certificate of the CA. */
export class TlsServerCredentials extends ServerCredentials {
  constructor(material: TlsMaterial) {
    super({ requestCert: true, rejectUnauthorized: true }, optionsOf(material));
  }

  /** Uses other files for new connections. */
  update(material: TlsMaterial): void {
    this.updateSecureContextOptions(optionsOf(material));
  }

  override _equals(other: ServerCredentials): boolean {
    return other === this;
  }
}

/** The side of the clients of this process, which share the files. */
export class TlsClientContext {
  #context: SecureContext;
  readonly #onFailure: (host: string, error: Error) => void;
  /** The last reason for which connections to a host have failed. */
  readonly #failures = new Map<string, string>();

  /** `onFailure` is called when a handshake fails, once for each reason until a connection succeeds. */
  constructor(material: TlsMaterial, onFailure: (host: string, error: Error) => void) {
    this.#context = createSecureContext(optionsOf(material));
    this.#onFailure = onFailure;
  }

  /** Uses other files for new connections. */
  update(material: TlsMaterial): void {
    this.#context = createSecureContext(optionsOf(material));
  }

  /** Verifies the certificate of the server against the CA, and that it names the host. */
  async connect(socket: Socket, host: string): Promise<SecureConnectResult> {
    try {
      const secured = await this.#handshake(socket, host);
      this.#failures.delete(host);
      return { socket: secured, secure: true };
    } catch (error) {
      if (error instanceof Error) this.#report(host, error);
      throw error;
    }
  }

  #handshake(socket: Socket, host: string): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const secured = connect({
        socket,
        secureContext: this.#context,
        host,
        // A server name is never an address (https://www.rfc-editor.org/rfc/rfc6066#section-3).
        servername: isIP(host) === 0 ? host : '',
        ALPNProtocols: ['h2'],
        rejectUnauthorized: true,
      });
      secured.once('secureConnect', () => resolve(secured));
      secured.on('error', reject);
      secured.once('close', () => reject(new Error('The connection was closed during the handshake.')));
    });
  }

  #report(host: string, error: Error): void {
    if (this.#failures.get(host) === error.message) return;
    this.#failures.set(host, error.message);
    this.#onFailure(host, error);
  }
}

/** The credentials of channels to one host. */
export class TlsChannelCredentials extends ChannelCredentials {
  readonly #client: TlsClientContext;
  readonly #host: string;

  constructor(client: TlsClientContext, host: string) {
    super();
    this.#client = client;
    this.#host = host;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return (
      other instanceof TlsChannelCredentials && other.#client === this.#client && other.#host === this.#host
    );
  }

  override _createSecureConnector(
    _target: experimental.GrpcUri,
    _options: object,
    callCredentials = CallCredentials.createEmpty(),
  ): SecureConnector {
    return {
      connect: (socket) => this.#client.connect(socket, this.#host),
      waitForReady: async () => {},
      getCallCredentials: () => callCredentials,
      destroy: () => {},
    };
  }
}
