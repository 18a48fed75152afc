import { randomUUID } from 'node:crypto';
import type { System } from '../../../support/system.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any response
type Any = any;

export interface RpcAnswer {
  status: number;
  result: Any;
  error: Any;
  id: unknown;
}

export type A2aClient = ReturnType<typeof createA2aClient>;

/** A plain JSON-RPC client of the A2A endpoint of an agent. Tests read members of any response. */
export function createA2aClient(
  system: Pick<System, 'url'>,
  agentId: string,
  credentials: Record<string, string> = {},
) {
  const url = `${system.url}/api/v1/a2a/${agentId}`;
  const post = (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...credentials, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  const open = (method: string, params: object, signal?: AbortSignal) =>
    post({ jsonrpc: '2.0', id: 7, method, params }, {}, signal);
  const rpc = async (method: string, params: object): Promise<RpcAnswer> => {
    const response = await open(method, params);
    return { ...((await response.json()) as Omit<RpcAnswer, 'status'>), status: response.status };
  };
  return {
    url,
    post,
    open,
    rpc,
    send: (parts: string | object[], message: object = {}, configuration: object = {}) =>
      rpc('SendMessage', sendRequest(parts, message, configuration)),
    card: () => fetch(`${url}/.well-known/agent-card.json`, { headers: credentials }),
  };
}

/** The parameters of a message. */
export const sendRequest = (parts: string | object[], message: object = {}, configuration: object = {}) => ({
  message: {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: typeof parts === 'string' ? [{ text: parts }] : parts,
    ...message,
  },
  configuration,
});

/** Reads the results of a stream as they arrive. */
export async function* resultsOf(response: Response): AsyncGenerator<Any> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data).result;
    }
  }
}

/** The text of the answer of a task. */
export const answerOf = (task: Any): string =>
  (task.artifacts ?? [])
    .filter(({ artifactId }: Any) => artifactId === 'answer')
    .flatMap(({ parts }: Any) => parts.map(({ text = '' }: Any) => text))
    .join('');
