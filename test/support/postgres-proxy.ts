import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import {
  fatalErrorMessage,
  type Message,
  MessageReader,
  queryMessage,
  startupParameters,
  stringsOf,
} from './postgres-messages.ts';

/** A statement on its way to the server. */
export interface ObservedStatement {
  /** The name of the prepared statement; the text of a statement without a name, such as `begin` and `commit`. */
  name: string;
  /** The application name of the connection: `ahs-<schema>`. */
  application: string;
}

export interface Fault {
  /** The SQLSTATE of the answer. Undefined: the connection is closed without an answer. */
  state: string | undefined;
  /** Selects the statements that fail. */
  matches(statement: ObservedStatement): boolean;
  /** The statement is performed, and only its answer is replaced. Requires a state that closes the connection. */
  isPerformed?: boolean;
  /** How many statements fail. Default: every one until `clear`. */
  times?: number;
}

/** A connection on which a statement has failed. */
export interface FailedConnection {
  /** Whether the client has closed it. */
  isDropped: boolean;
  /** The statements that the client sent afterwards. */
  later: string[];
}

/**
 * A proxy to a PostgreSQL server that makes statements and connections fail with any SQLSTATE. A failed statement is
 * replaced by one that raises the state in the server, so that transactions behave as they do after a real failure.
 */
export interface PostgresProxy extends AsyncDisposable {
  url: string;
  /** The statements that clients have sent. */
  readonly statements: ObservedStatement[];
  /** The connections on which a statement has failed since the last `inject`. */
  readonly failures: FailedConnection[];
  /** Makes matching statements fail from now on. Replaces the previous fault. */
  inject(fault: Fault): void;
  /** Rejects new connections with the state, or stops to answer them with `silent`. */
  rejectConnections(state: string | 'silent'): void;
  /** Resets all connections. */
  cut(): void;
  /** Forwards everything again. */
  clear(): void;
}

/** States after which a server closes the connection. */
const CLOSES = /^(08|57P|25P03|25P04|53300)/;

class ProxiedConnection {
  readonly #proxy: ProxyState;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #fromClient = new MessageReader(true);
  readonly #fromServer = new MessageReader(false);
  #application = '';
  #isReady = false;
  /** The messages of the current statement. */
  #pending: Message[] = [];
  /** The answers of this many statements are not forwarded. */
  #hidden = 0;
  #afterHidden: (() => void) | undefined;
  #failure: FailedConnection | undefined;
  /** The server has ended the session. The socket stays open until the client closes it or sends another statement. */
  #hasEnded = false;

  constructor(proxy: ProxyState, client: Socket, port: number) {
    this.#proxy = proxy;
    this.#client = client;
    this.#server = connect(port, '127.0.0.1');
    client.on('data', (chunk) => {
      for (const message of this.#fromClient.read(chunk)) this.#onClientMessage(message);
    });
    this.#server.on('data', (chunk) => {
      for (const message of this.#fromServer.read(chunk)) this.#onServerMessage(message);
    });
    for (const socket of [client, this.#server]) {
      socket.on('error', () => {});
      socket.on('close', () => this.close());
    }
    client.on('end', () => this.#noteDropped());
  }

  close(): void {
    this.#client.destroy();
    this.#server.destroy();
    this.#proxy.connections.delete(this);
  }

  #noteDropped(): void {
    if (this.#failure) this.#failure.isDropped = true;
  }

  #onClientMessage(message: Message): void {
    if (message.type === '') {
      this.#onStartup(message);
      return;
    }
    if (message.type === 'X') {
      this.#noteDropped();
      this.#server.write(message.bytes);
      return;
    }
    if (!this.#isReady) {
      this.#server.write(message.bytes);
      return;
    }
    this.#pending.push(message);
    if (message.type !== 'Q' && message.type !== 'S') return;
    const messages = this.#pending;
    this.#pending = [];
    this.#onStatement(messages);
  }

  #onStartup(message: Message): void {
    this.#application = startupParameters(message).get('application_name') ?? '';
    const { rejection } = this.#proxy;
    if (rejection === undefined) this.#server.write(message.bytes);
    else if (rejection !== 'silent') this.#client.end(fatalErrorMessage(rejection));
  }

  #onStatement(messages: Message[]): void {
    const bytes = Buffer.concat(messages.map((message) => message.bytes));
    const statement = { name: nameOf(messages), application: this.#application };
    this.#proxy.statements.push(statement);
    this.#failure?.later.push(statement.name);
    if (this.#hasEnded) {
      this.close();
      return;
    }
    const fault = this.#proxy.takeFault(statement);
    if (!fault) {
      this.#server.write(bytes);
      return;
    }
    this.#failure = { isDropped: false, later: [] };
    this.#proxy.failures.push(this.#failure);
    const { state, isPerformed = false } = fault;
    if (isPerformed) this.#hide(bytes, () => this.#end(state));
    else if (state === undefined || CLOSES.test(state)) this.#end(state);
    // A commit that fails has ended the transaction.
    else if (statement.name === 'commit') this.#hide(queryMessage('rollback'), () => this.#raise(state));
    else this.#raise(state);
  }

  /** Sends bytes to the server and continues after the answer, which the client does not receive. */
  #hide(bytes: Buffer, then: () => void): void {
    this.#hidden++;
    this.#afterHidden = then;
    this.#server.write(bytes);
  }

  #raise(state: string): void {
    this.#server.write(
      queryMessage(`do $$ begin raise exception 'injected failure' using errcode = '${state}'; end $$`),
    );
  }

  /** Ends the session like a server, with an error if there is a state. */
  #end(state: string | undefined): void {
    this.#server.removeAllListeners('close').destroy();
    if (state === undefined) {
      this.close();
      return;
    }
    this.#hasEnded = true;
    this.#client.write(fatalErrorMessage(state));
  }

  #onServerMessage({ type, bytes }: Message): void {
    if (type === 'Z') this.#isReady = true;
    if (this.#hidden === 0) {
      this.#client.write(bytes);
      return;
    }
    if (type !== 'Z') return;
    this.#hidden--;
    this.#afterHidden?.();
  }
}

function nameOf(messages: readonly Message[]): string {
  for (const message of messages) {
    if (message.type === 'Q') return stringsOf(message, 1)[0] ?? '';
    if (message.type !== 'B') continue;
    const [, name = ''] = stringsOf(message, 2);
    if (name !== '') return name;
  }
  const parse = messages.find((message) => message.type === 'P');
  return (parse && stringsOf(parse, 2)[1]) ?? '';
}

class ProxyState {
  readonly connections = new Set<ProxiedConnection>();
  readonly statements: ObservedStatement[] = [];
  failures: FailedConnection[] = [];
  rejection: string | undefined;
  #fault: Fault | undefined;
  #left = 0;

  set fault(fault: Fault | undefined) {
    this.#fault = fault;
    this.#left = fault?.times ?? Number.POSITIVE_INFINITY;
  }

  takeFault(statement: ObservedStatement): Fault | undefined {
    if (!this.#fault || this.#left === 0 || !this.#fault.matches(statement)) return undefined;
    this.#left--;
    return this.#fault;
  }
}

/** Opens a proxy to the server of a database URL. */
export async function openPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const state = new ProxyState();
  const url = new URL(databaseUrl);
  const serverPort = Number(url.port);
  const server = createServer((client) => {
    state.connections.add(new ProxiedConnection(state, client.setNoDelay(), serverPort));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    for (const connection of state.connections) connection.close();
  };
  return {
    url: url.href,
    statements: state.statements,
    get failures() {
      return state.failures;
    },
    inject(fault) {
      state.failures = [];
      state.fault = fault;
    },
    rejectConnections(rejection) {
      state.rejection = rejection;
    },
    cut,
    clear() {
      state.fault = undefined;
      state.rejection = undefined;
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
