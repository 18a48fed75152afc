import type { Place } from '../support/programs.ts';
import type { Frame } from '../support/stream.ts';

export const STORY = 'and then '.repeat(25);

/** Speaks for longer than a stopping runner waits. */
const STORYTELLER = {
  model: 'rehearsal/script',
  model_options: { steps: [{ text: STORY, chunk_chars: 9, delay_ms: 100 }] },
};

/** Begins a conversation with the storyteller; resolves with the id of its session. */
export async function tell(place: Place): Promise<string> {
  const agent = await place.api.createAgent(STORYTELLER);
  const { body } = await place.api.post(`/agents/${agent}/conversations`, { message: 'go' });
  return String(body.data.session_id);
}

export const streamOf = ({ api }: Place, session: string) =>
  `${api.origin}/api/v1/sessions/${session}/events/stream`;
export const journalled = (frames: Frame[]) => frames.filter(({ id }) => id !== undefined);
export const speaks = (frames: Frame[]) => frames.some(({ event }) => event === 'agent.message_delta');
