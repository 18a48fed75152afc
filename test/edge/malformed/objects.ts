import type { Api } from '../../support/api.ts';
import { until } from '../../support/wait.ts';
import { PNG, partsApi } from '../message-parts.ts';

const FORM = {
  type: 'object',
  properties: { size: { type: 'string', enum: ['small'] } },
  required: ['size'],
};
export const LOCATE = {
  ...{ type: 'client', name: 'locate', description: 'Locates the device.' },
  input_schema: { type: 'object' },
};
const SETTINGS = {
  ...{ name: 'A', model: 'rehearsal/echo' },
  tools: [{ name: 'bash', permission: 'deny' }],
  budget: { max_tokens: 50 },
  overridable: [
    ...['model', 'system', 'tools', 'client_tools', 'model_options', 'max_steps', 'budget', 'output_schema'],
  ],
};

/** The ids that the requests name. */
export interface Objects {
  /** An agent that denies `bash`, has a budget of 50 tokens and allows all overrides. */
  agent: string;
  assistant: string;
  environment: string;
  upload: string;
  /** An idle session with one completed turn and the file `a.txt`. */
  session: string;
  turn: string;
  /** A session that waits for `call_1_1` of a client tool and for `call_1_2` of `ask_user`. */
  waiting: string;
}

export async function createObjects(api: Api): Promise<Objects> {
  const parts = partsApi(api);
  const agent = await api.createAgent(SETTINGS);
  const assistant = (await api.post('/assistants', SETTINGS)).body.data;
  const environment = (await api.post('/admin/environments', { name: 'unused' })).body.data;
  const begun = await api.post(`/agents/${agent}/conversations`, { message: 'Hi', wait_seconds: 60 });
  const { session_id: session, turn } = begun.body.data as unknown as {
    session_id: string;
    turn: { turn_id: string };
  };
  await parts.putFile(session, 'a.txt', Buffer.from('Hello'));
  const asking = await api.createAgent({
    model: 'rehearsal/script',
    model_options: {
      steps: [
        { tool: 'locate', input: {} },
        { tool: 'ask_user', input: { question: 'Which size?', schema: FORM } },
      ],
    },
    tools: [LOCATE],
  });
  const waiting = await parts.begin(asking, { message: 'Hi' });
  await until('the turn waits for two answers', async () => {
    const { body } = await api.get(`/sessions/${waiting}/tool-calls?status=pending`);
    return body.data.length === 2;
  });
  return {
    agent,
    assistant: String(assistant.assistant_id),
    environment: String(environment.environment_id),
    upload: await parts.upload(PNG),
    session,
    turn: turn.turn_id,
    waiting,
  };
}
