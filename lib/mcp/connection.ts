import { AsyncResource } from 'node:async_hooks';
import {
  Client,
  type ClientOptions,
  type PriorDiscovery,
  ProtocolError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { type Clock, wait } from '../clock.ts';
import type { JsonObject } from '../mcp-catalogue/catalogue.ts';
import type { OutboundClient } from '../outbound/outbound-client.ts';
import type { Exchange } from './exchange.ts';
import { LimitedExchanges, MAX_EXCHANGE_MS } from './limited-exchanges.ts';
import { type CredentialHeaders, LimitedFetch } from './limited-fetch.ts';
import { type ReadCatalogue, readCatalogueOf } from './read-catalogue.ts';
import { listResourcesOf, type ResourceList, readResourceOf } from './resources.ts';
import type { InputRequired, ToolCall, ToolCallResult } from './tool-call.ts';

export interface McpEndpoint {
  url: string;
  /** streamable_http | sse */
  transport: string;
  headers?: CredentialHeaders | undefined;
  /** Limit of silence, and of a call without progress. */
  timeoutSeconds: number;
  /** Limit of the bytes of all responses of an exchange. Default: MAX_CALL_BYTES. */
  maxBytes?: number;
}

/** The protocol of a server from an earlier connection, which saves requests. */
export type KnownProtocol = PriorDiscovery;

export interface ServerIdentity {
  name: string;
  title: string;
  version: string;
}

const MIB = 1024 * 1024;
/** Limits of all lists of a catalogue. Small values take fifty times their bytes in memory. */
const CATALOGUE_LIMITS = { maxBytes: 2 * MIB, maxValues: 100_000 };
export const MAX_CALL_BYTES = 16 * MIB;
/** A server that does not end its session keeps it until its own limit. */
const MAX_CLOSE_MS = 2_000;
/** The SDK's own time limits never end a request first. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** The limit of attempts is that of the exchange. The delays are those of the server, otherwise these. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.POSITIVE_INFINITY,
};
const CLIENT = { name: 'agent-hosting-service', version: '1.0.0' };

/** The SDK's validators run regular expressions and references of a server's schema without a time limit. */
const NO_VALIDATION = {
  getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }),
} as NonNullable<ClientOptions['jsonSchemaValidator']>;

export interface McpConnectionOptions {
  outbound: OutboundClient;
  clock: Clock;
  signal?: AbortSignal | undefined;
  known?: KnownProtocol | undefined;
}

/** One client of an MCP server, of either protocol era. Use it for one probe, call or turn, and close it. */
export class McpConnection {
  readonly #client: Client;
  readonly #fetch: LimitedFetch;
  readonly #exchanges: LimitedExchanges;
  readonly #endpoint: McpEndpoint;
  readonly #clock: Clock;

  private constructor(endpoint: McpEndpoint, { outbound, clock }: McpConnectionOptions) {
    this.#endpoint = endpoint;
    this.#clock = clock;
    const { headers, timeoutSeconds, maxBytes = MAX_CALL_BYTES } = endpoint;
    const url = new URL(endpoint.url);
    this.#fetch = new LimitedFetch({ outbound, url, headers, maxBytes, totalMs: MAX_EXCHANGE_MS });
    this.#exchanges = new LimitedExchanges({ fetch: this.#fetch, clock, timeoutSeconds });
    this.#client = new Client(CLIENT, {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: 'auto' },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: NO_VALIDATION,
      listMaxPages: MAX_PAGES,
    });
    // Servers of 2025-11-25 ask during a call, which no person can answer in time.
    this.#client.setRequestHandler('elicitation/create', () => ({ action: 'decline' as const }));
  }

  /** Connects and negotiates the protocol. Throws McpError, or the reason of the signal. */
  static async open(endpoint: McpEndpoint, options: McpConnectionOptions): Promise<McpConnection> {
    const connection = new McpConnection(endpoint, options);
    try {
      await connection.#exchanges.run({ caller: options.signal, endsRequests: true }, (signal) =>
        connection.#connect(signal, options.known),
      );
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  get protocolVersion(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? '';
  }

  get server(): ServerIdentity {
    const { name = '', title = '', version = '' } = this.#client.getServerVersion() ?? {};
    return { name, title, version };
  }

  get known(): KnownProtocol {
    const discover = this.#client.getDiscoverResult();
    return discover ? { kind: 'modern', discover } : { kind: 'legacy' };
  }

  /** Whether the server has, or can have, a session that lasts until the connection is closed. */
  get hasSession(): boolean {
    return (
      this.#client.transport instanceof StreamableHTTPClientTransport &&
      this.#client.getProtocolEra() !== 'modern'
    );
  }

  /** Whether it may be kept for later exchanges. One of the transport `sse` holds a response of the server open. */
  get isReusable(): boolean {
    return this.#client.transport instanceof StreamableHTTPClientTransport;
  }

  /** Reads the complete catalogue. Throws McpError, or the reason of the signal. */
  async readCatalogue(signal?: AbortSignal): Promise<ReadCatalogue> {
    const limits = { caller: signal, endsRequests: true, ...CATALOGUE_LIMITS };
    return this.#exchanges.run(limits, (limit) =>
      readCatalogueOf(this.#client, { signal: limit, timeout: NO_LIMIT_MS, cacheMode: 'bypass' }),
    );
  }

  /** Calls a tool. An error of the tool is a result. Throws McpError, or the reason of the signal. */
  async callTool({ tool, input, resumed, signal, onProgress }: ToolCall): Promise<ToolCallResult> {
    // The SDK tells the server that a call was cancelled, so its requests do not end with the signal.
    return this.#exchanges.run({ caller: signal, endsRequests: false }, async (limit, prolong, exchange) => {
      const definition = { name: tool.name, inputSchema: { ...tool.input_schema, type: 'object' as const } };
      const options = {
        signal: limit,
        timeout: NO_LIMIT_MS,
        toolDefinition: definition,
        allowInputRequired: true,
        onprogress: ({
          progress,
          total,
          message = '',
        }: {
          progress: number;
          total?: number;
          message?: string;
        }) => {
          prolong();
          onProgress?.({ progress, total, message });
        },
      };
      try {
        const request = { name: tool.name, arguments: { ...input }, ...resumed };
        const result = await this.#client.callTool(request as CallParams, options);
        const inputRequired = inputRequiredOf(result);
        if (inputRequired) return { isError: false, content: [], inputRequired };
        const { isError = false, content, structuredContent } = result;
        return { isError, content: content as JsonObject[], structuredContent };
      } catch (error) {
        return errorResult(exchange, error);
      }
    });
  }

  /** Reads the complete list of resources. Throws McpError, or the reason of the signal. */
  async listResources(signal?: AbortSignal): Promise<ResourceList> {
    return this.#exchanges.run({ caller: signal, endsRequests: true }, (limit) =>
      listResourcesOf(this.#client, { signal: limit, timeout: NO_LIMIT_MS, cacheMode: 'bypass' }),
    );
  }

  /** Reads a resource. An error of the server is a result. Throws McpError, or the reason of the signal. */
  async readResource(uri: string, signal?: AbortSignal): Promise<ToolCallResult> {
    return this.#exchanges.run({ caller: signal, endsRequests: false }, (limit, _, exchange) =>
      readResourceOf(this.#client, uri, { signal: limit, timeout: NO_LIMIT_MS }).catch((error) =>
        errorResult(exchange, error),
      ),
    );
  }

  /** Ends the session of the server, if it has one. Never throws. */
  async close(): Promise<void> {
    const { transport } = this.#client;
    if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined)
      await this.#endSession(transport);
    await this.#client.close().catch(() => {});
  }

  async #endSession(transport: StreamableHTTPClientTransport): Promise<void> {
    const ended = new AbortController();
    const ending = transport.terminateSession().catch(() => {});
    await Promise.race([ending, wait(this.#clock, MAX_CLOSE_MS, ended.signal)]);
    ended.abort();
  }

  async #connect(signal: AbortSignal, known: KnownProtocol | undefined): Promise<void> {
    const url = new URL(this.#endpoint.url);
    const options = { fetch: this.#fetch.fetch, requestInit: { redirect: 'error' as const } };
    const isSse = this.#endpoint.transport === 'sse';
    const transport = isSse
      ? new SSEClientTransport(url, { ...options, eventSourceInit: { fetch: this.#fetch.fetch } })
      : new StreamableHTTPClientTransport(url, {
          ...options,
          reconnectionScheduler: (reconnect, delayMs) => this.#resumeLater(reconnect, delayMs),
          reconnectionOptions: RECONNECTION,
        });
    if (isSse) this.#client.setVersionNegotiation({ mode: 'legacy' });
    const prior = known && !isSse ? { prior: known } : {};
    await this.#client.connect(transport, { signal, timeout: NO_LIMIT_MS, ...prior });
  }

  /**
   * Called by the SDK when the response to a call ended early and has an event id to continue after. Returns a function that
   * cancels the attempt.
   */
  #resumeLater(reconnect: () => void, delayMs: number): (() => void) | undefined {
    const exchange = this.#fetch.current;
    if (!exchange) return undefined;
    if (!exchange.resume()) {
      exchange.broken(undefined);
      return undefined;
    }
    const cancel = this.#clock.after(Math.min(delayMs, MAX_EXCHANGE_MS), AsyncResource.bind(reconnect));
    exchange.ended.addEventListener('abort', cancel, { once: true });
    return cancel;
  }
}

/** The result for an error that the server has answered. Throws another error. */
function errorResult({ failure }: Exchange, error: unknown): ToolCallResult {
  if (!(error instanceof ProtocolError) || failure !== undefined) throw error;
  return { isError: true, content: [{ type: 'text', text: error.message }] };
}

type CallParams = Parameters<Client['callTool']>[0];

function inputRequiredOf(result: object): InputRequired | undefined {
  const { resultType, inputRequests = {}, requestState } = result as Record<string, unknown>;
  if (resultType !== 'input_required') return undefined;
  const requests = inputRequests as Record<string, JsonObject>;
  return { requests, requestState: typeof requestState === 'string' ? requestState : undefined };
}

/** Limit of the pages of a list. */
const MAX_PAGES = 64;
