import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { compatible } from './compatible.ts';
import { type OutputPart, textsIn } from './protocol.ts';

interface Message {
  role: string;
  content?: string | { type?: string; text?: string }[] | null;
  tool_calls?: unknown[];
}

export interface StrictRequest {
  messages: Message[];
  /** The text of all messages. */
  text: string;
  tokens: number;
  isSummary: boolean;
  /** The time at which its head arrived, in milliseconds of the machine's clock. */
  arrivedAt: number;
}

export interface StrictProvider extends AsyncDisposable {
  url: string;
  requests: StrictRequest[];
  /** Number of requests that were refused because of their length. */
  refusals: number;
}

export interface StrictOptions {
  /** The input and the maximum output of a request may have this many tokens together. */
  window: number;
  /** How many of the last requests are kept. Default: all. */
  retained?: number;
  /** Called when a request has arrived, before its answer. */
  arrived?(request: StrictRequest): void;
  /** The message of a refusal. */
  refusal?: (tokens: number, window: number) => string;
  /** Returns the answer to a request that is no summary. */
  answer(request: StrictRequest): OutputPart[];
  /** Returns the summary, or its beginning before the connection ends; undefined fails the request. */
  summary?(request: StrictRequest): string | { cutAfter: string } | undefined;
}

const BYTES_PER_TOKEN = 3;
const MESSAGE_TOKENS = 8;
const IMAGE_TOKENS = 1_500;

/**
 * A provider that counts tokens strictly, otherwise than the service estimates them, and refuses the first token too many.
 * It speaks the protocol of `compatible`.
 */
export async function openStrictProvider(options: StrictOptions): Promise<StrictProvider> {
  const { window, answer, summary = textOfCodeWords, refusal = toldRefusal } = options;
  const { retained = Number.POSITIVE_INFINITY, arrived } = options;
  const server = createServer(async (incoming, response) => {
    const arrivedAt = performance.timeOrigin + performance.now();
    const body = JSON.parse(await text(incoming));
    const request = { ...readRequest(body), arrivedAt };
    provider.requests.push(request);
    if (provider.requests.length > retained) provider.requests.shift();
    arrived?.(request);
    const total = request.tokens + Number(body.max_tokens ?? 0);
    if (total > window) {
      provider.refusals++;
      return refuse(response, 400, refusal(total, window));
    }
    if (!request.isSummary) return respond(response, answer(request), request.tokens);
    const summarized = summary(request);
    if (summarized === undefined) return refuse(response, 400, 'The request is not valid.');
    if (typeof summarized === 'string') respond(response, [{ text: summarized }], request.tokens);
    else cut(response, [{ text: summarized.cutAfter }], request.tokens);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const provider: StrictProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    refusals: 0,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return provider;
}

function toldRefusal(tokens: number, window: number): string {
  return `This model's maximum context length is ${window} tokens. However, you requested ${tokens} tokens.`;
}

/** A summary has the code words of the conversation, which begin with `code-`. */
function textOfCodeWords({ text }: StrictRequest): string {
  return `Code words: ${[...new Set(text.match(/code-\w+/g) ?? [])].join(' ')}. The user asks questions.`;
}

function readRequest(body: { messages: Message[]; tools?: unknown[] }): Omit<StrictRequest, 'arrivedAt'> {
  const { messages, tools = [] } = body;
  let bytes = Buffer.byteLength(JSON.stringify(tools));
  let tokens = messages.length * MESSAGE_TOKENS;
  for (const { content, tool_calls: calls = [] } of messages) {
    bytes += Buffer.byteLength(textsIn(content ?? '').join('')) + Buffer.byteLength(JSON.stringify(calls));
    if (Array.isArray(content))
      tokens += IMAGE_TOKENS * content.filter(({ type }) => type === 'image_url').length;
  }
  tokens += Math.ceil(bytes / BYTES_PER_TOKEN);
  const texts = messages.flatMap(({ content }) => textsIn(content ?? ''));
  const isSummary = texts[0]?.startsWith('The conversation of an agent has become too long') ?? false;
  return { messages, text: texts.slice(isSummary ? 1 : 0).join('\n'), tokens, isSummary };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(compatible.errorBody({ status, kind: 'BadRequestError', message })));
}

function respond(response: ServerResponse, parts: OutputPart[], input: number): void {
  const scripted = { parts, tokens: { input, output: 20 } };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end([...compatible.streamStart(scripted), ...compatible.streamEnd(scripted)].join(''));
}

function cut(response: ServerResponse, parts: OutputPart[], input: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(compatible.streamStart({ parts, tokens: { input, output: 20 } }).join(''));
}
