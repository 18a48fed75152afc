import type { Installation } from '../support/installations.ts';
import type { Frame } from '../support/stream.ts';

export const STORY = 'and then '.repeat(25);

/** Streams for longer than a stopping runner waits. */
const STORYTELLER = {
  model: 'rehearsal/script',
  model_options: { steps: [{ text: STORY, chunk_chars: 9, delay_ms: 100 }] },
};

/** Starts a conversation with a long streamed answer. Returns the session id. */
export async function startStory(installation: Installation): Promise<string> {
  const agent = await installation.api.createAgent(STORYTELLER);
  const { body } = await installation.api.post(`/agents/${agent}/conversations`, { message: 'go' });
  return String(body.data.session_id);
}

export const streamOf = ({ api }: Installation, session: string) =>
  `${api.origin}/api/v1/sessions/${session}/events/stream`;
export const journalFrames = (frames: Frame[]) => frames.filter(({ id }) => id !== undefined);
export const hasDelta = (frames: Frame[]) => frames.some(({ event }) => event === 'agent.message_delta');
