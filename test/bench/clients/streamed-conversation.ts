import { openRequests } from './requests.ts';
import { openStreamedAnswers, type StreamedAnswer } from './streamed-answers.ts';

/** The two protocols in which clients read an answer as it is written. */
export const STREAM_PROTOCOLS = ['ai-stream', 'chat-completions'] as const;
export type StreamProtocol = (typeof STREAM_PROTOCOLS)[number];

/** A conversation whose answers are streams. */
export interface StreamedConversation {
  send(message: string): Promise<StreamedAnswer>;
  close(): void;
}

interface ConversationOptions {
  port: number;
  agent: string;
  protocol: StreamProtocol;
}

/** Begins a conversation. A chat begins with its first message; the earlier ones are sent with each later request. */
export function beginConversation(options: ConversationOptions): Promise<StreamedConversation> {
  return options.protocol === 'ai-stream' ? beginAiStream(options) : Promise.resolve(beginChat(options));
}

async function beginAiStream({ port, agent }: ConversationOptions): Promise<StreamedConversation> {
  const requests = openRequests(port);
  const created = await requests.post(`/api/v1/agents/${agent}/conversations`, '{}', 201);
  requests.close();
  const { session_id: session } = JSON.parse(created).data as { session_id: string };
  const answers = openStreamedAnswers(port);
  return {
    send: (content) =>
      answers.post(`/api/v1/sessions/${session}/ai-stream`, JSON.stringify({ content }), '"text-delta"'),
    close: answers.close,
  };
}

function beginChat({ port, agent }: ConversationOptions): StreamedConversation {
  const answers = openStreamedAnswers(port);
  const messages: { role: 'user' | 'assistant'; content: string }[] = [];
  return {
    async send(content) {
      messages.push({ role: 'user', content });
      const body = JSON.stringify({ model: agent, stream: true, messages });
      const answer = await answers.post('/api/v1/openai/v1/chat/completions', body, '"delta":{"content":');
      messages.push({ role: 'assistant', content: answer.objects.map(textOf).join('') });
      return answer;
    },
    close: answers.close,
  };
}

function textOf(json: string): string {
  const { choices } = JSON.parse(json) as { choices: { delta: { content?: string } }[] };
  return choices[0]?.delta.content ?? '';
}
