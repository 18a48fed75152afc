import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  created,
  creation,
  patch,
  patched,
  serializeRuntime,
  runtime as shownRuntime,
} from '../../../edge/schemas/runtime.ts';
import { RUNTIME_FIELDS as API_FIELDS } from '../../../edge/schemas/runtime-fields.ts';
import {
  AgentRuntime,
  UpdateAgentRequest,
  UpdateAssistantRequest,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { RUNTIME_FIELDS } from '../../../services/agents/domain/runtime-fields.ts';
import { rowsOn } from '../../support/sql.ts';
import { environmentRequest } from './environments.ts';
import { createServer } from './mcp-servers.ts';
import {
  type AgentsSystem,
  administrator,
  alice,
  change,
  createAgent,
  openAgentsSystem,
  RUNTIME,
} from './system.ts';

/** All fields of a message: a decoded empty message has every field as a member. */
const fieldsOf = (message: { decode(bytes: Uint8Array): object }) =>
  Object.keys(message.decode(new Uint8Array()));

/** PutExtensions alone changes these fields. */
const isChangedByUpdates = (name: string) => name !== 'mcpServers' && name !== 'skills';

/** A value for each field that differs from the one in `RUNTIME`. */
const OTHER_VALUES: Record<keyof typeof RUNTIME_FIELDS, unknown> = {
  model: 'rehearsal/script',
  models: { names: ['rehearsal/echo', 'rehearsal/script'] },
  modelOptionsJson: '{"seed":1}',
  system: 'Be kind.',
  environmentId: '',
  tools: { tools: [{ name: 'calculator', permission: 'ask' }] },
  maxSteps: 5,
  budget: { maxTokens: undefined, maxTurnSeconds: 9 },
  outputSchemaJson: '{"type":"object"}',
  overridable: { names: ['model', 'budget'] },
  context: {
    ...{ strategy: 'drop_tool_results', threshold: 0.5, keepTurns: 2, model: 'rehearsal/echo' },
    ...{ instructions: 'Keep names.', window: 8_000 },
  },
  mcpServers: { ids: [] },
  skills: { items: [] },
};

describe('RUNTIME_FIELDS', () => {
  const names = Object.keys(RUNTIME_FIELDS);

  it('has a row for every field of the contract message AgentRuntime', () => {
    expect(names.toSorted()).toEqual(fieldsOf(AgentRuntime).toSorted());
  });

  it.each(names.filter(isChangedByUpdates))('names a field of both update requests: %s', (name) => {
    expect(fieldsOf(UpdateAgentRequest)).toContain(name);
    expect(fieldsOf(UpdateAssistantRequest)).toContain(name);
  });
});

describe('the table of the runtime members in the API', () => {
  const members = Object.keys(API_FIELDS);

  it('has a row for every field of the contract message AgentRuntime that updates change', () => {
    const fields = Object.values(API_FIELDS).map(({ contract }) => contract);
    expect(fields.toSorted()).toEqual(fieldsOf(AgentRuntime).filter(isChangedByUpdates).toSorted());
  });

  it.each(members)('gives the schemas of creations, changes and responses their member %s', (member) => {
    for (const schema of [creation, patch, shownRuntime]) expect(schema).toHaveProperty(member);
  });
});

describe('the conversions of the API', () => {
  const names = fieldsOf(AgentRuntime).filter(isChangedByUpdates);

  it('set every field of AgentRuntime in a creation and in a change', () => {
    const { runtime } = created({ name: 'Echo', model: 'rehearsal/echo' });
    expect(Object.keys(runtime).toSorted()).toEqual(names.toSorted());
    expect(Object.keys(patched({}))).toEqual(expect.arrayContaining(names));
  });

  it('reset a member to its initial value when a change sets it to null', () => {
    const body = {
      models: null,
      model_options: null,
      system: null,
      environment_id: null,
      tools: null,
      budget: null,
      output_schema: null,
      overridable: null,
    };
    expect(patched(body)).toMatchObject({
      models: { names: [] },
      modelOptionsJson: '{}',
      system: '',
      environmentId: '',
      tools: { tools: [] },
      budget: {},
      outputSchemaJson: '',
      overridable: { names: [] },
    });
  });

  it('leave an omitted member out of a change', () => {
    expect(Object.values(patched({})).every((value) => value === undefined)).toBe(true);
  });

  it('return every field of AgentRuntime', () => {
    expect(Object.keys(serializeRuntime(undefined)).toSorted()).toEqual(Object.keys(API_FIELDS).toSorted());
  });
});

describe('a version of an agent', () => {
  let agents: AgentsSystem;
  let environmentId = '';
  let mcpServerId = '';
  beforeAll(async () => {
    agents = await openAgentsSystem('in process');
    const { environment } = await agents.edge.createEnvironment(
      environmentRequest({ name: 'other' }),
      administrator,
    );
    environmentId = environment!.environmentId;
    mcpServerId = (await createServer(agents)).mcpServerId;
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  it('is new when PutExtensions changes the servers, and is stored and returned whole', async () => {
    const agentId = await createAgent(agents);
    const request = { agentId, mcpServerIds: [mcpServerId], ifRevisions: undefined };
    await agents.edge.putExtensions(request, alice);
    const { agent } = await agents.edge.getAgent({ agentId }, alice);
    expect(agent).toMatchObject({ version: 2, runtime: { mcpServers: { ids: [mcpServerId] } } });
    const { version } = await agents.as('runner').getAgentVersion({ agentId, version: 2 });
    expect(version?.runtime).toEqual(agent?.runtime);
  });

  it.each(Object.keys(OTHER_VALUES).filter(isChangedByUpdates))(
    'is new when %s changes, and is stored and returned whole',
    async (name) => {
      const value =
        name === 'environmentId' ? environmentId : OTHER_VALUES[name as keyof typeof OTHER_VALUES];
      const agentId = await createAgent(agents);
      const { agent } = await agents.edge.updateAgent(change(agentId, { [name]: value }), alice);
      expect(agent?.version).toBe(2);
      const expected = name === 'tools' ? (value as { tools: unknown }).tools : value;
      expect(agent?.runtime).toEqual({ ...RUNTIME, budget: expect.anything(), [name]: expected });
      const { version } = await agents.as('runner').getAgentVersion({ agentId, version: 2 });
      expect(version?.runtime).toEqual(agent?.runtime);
    },
  );

  it('has no column without a row in the table', async () => {
    const columns = await rowsOn<{ column_name: string }>(
      agents.databaseUrl,
      "select column_name from information_schema.columns where table_schema = 'agents' and table_name = 'agent_versions'",
    );
    const own = ['agent_id', 'version', 'bytes', 'created_by', 'created_at'];
    const fields = Object.values(RUNTIME_FIELDS).flatMap((field) => [...field.columns]);
    expect(columns.map((row) => row.column_name).toSorted()).toEqual([...own, ...fields].toSorted());
  });
});
