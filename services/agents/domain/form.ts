import { isToolName, PERMISSIONS, TOOLS } from '../../../lib/tools.ts';
import { VISIBILITIES } from './access.ts';
import { modelProblem } from './models.ts';
import { checkOptions } from './options.ts';
import { Problems, step } from './problems.ts';

export interface Tool {
  name: string;
  /** allow | ask | deny; empty, as a client may leave it, for the tool's own default. */
  permission: string;
}

/** Absent members set no limit. */
export interface Budget {
  maxTokens?: number | undefined;
  maxTurnSeconds?: number | undefined;
}

/** What a turn runs with. */
export interface Runtime {
  /** <provider>/<model id> */
  model: string;
  /** A JSON object. */
  modelOptionsJson: string;
  system: string;
  /** env_…; empty for the default environment. */
  environmentId: string;
  tools: Tool[];
  maxSteps: number;
  budget: Budget;
}

/** What a client says about an agent. */
export interface Form extends Runtime {
  name: string;
  description: string;
  metadata: Record<string, string>;
  enabled: boolean;
  /** private | public | allowlist */
  visibility: string;
}

const MAX_SYSTEM_BYTES = 256 * 1024;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_METADATA = 50;
const MAX_KEY = 64;
const FIRST_PAGE = { limit: 50, cursor: '' };

/** The form as it is stored: without blanks around the name, with options, and with a permission for each tool. */
export function tidy<Given extends Partial<Form>>(form: Given): Given {
  const tidied = { ...form };
  if (form.name !== undefined) tidied.name = form.name.trim();
  if (form.modelOptionsJson === '') tidied.modelOptionsJson = '{}';
  if (form.tools !== undefined) tidied.tools = form.tools.map(withPermission);
  return tidied;
}

/**
 * Refuses a tidied form, or the part of one that a change brings, and names everything that is wrong with it.
 * `endpoints` are the names of the OpenAI-compatible endpoints whose models it may name.
 */
export function check(form: Partial<Form>, endpoints: readonly string[]): void {
  const problems = new Problems();
  const given = <Value>(value: Value | undefined, rule: (value: Value) => void) => {
    if (value !== undefined) rule(value);
  };
  given(form.name, (name) => problems.characters('/name', name, 1, 200));
  given(form.description, (text) => problems.characters('/description', text, 0, 2_000));
  given(form.model, (model) => checkModel(model, endpoints, problems));
  given(form.modelOptionsJson, (json) => checkOptions('/model_options', json, problems));
  given(form.system, (system) => checkSystem(system, problems));
  given(form.tools, (tools) => checkTools(tools, problems));
  given(form.maxSteps, (steps) => problems.range('/max_steps', steps, 1, 1_000));
  given(form.budget?.maxTokens, (value) => problems.range('/budget/max_tokens', value, 1, MAX_INT32));
  given(form.budget?.maxTurnSeconds, (value) =>
    problems.range('/budget/max_turn_seconds', value, 1, MAX_INT32),
  );
  given(form.metadata, (metadata) => checkMetadata(metadata, problems));
  given(form.visibility, (value) => problems.oneOf('/visibility', value, VISIBILITIES));
  problems.settle();
}

/** Refuses a page of a size that lists do not have. */
export function checkPage<Page extends { limit: number }>(page: Page | undefined): Page | typeof FIRST_PAGE {
  const problems = new Problems();
  if (page) problems.range('/limit', page.limit, 1, 100);
  problems.settle();
  return page ?? FIRST_PAGE;
}

/** Refuses a search text that no name could hold. */
export function checkSearch(q: string): void {
  const problems = new Problems();
  problems.characters('/q', q, 0, 200);
  problems.settle();
}

function checkModel(model: string, endpoints: readonly string[], problems: Problems): void {
  const problem = modelProblem(model, endpoints);
  if (problem) problems.add('/model', problem);
}

function checkSystem(system: string, problems: Problems): void {
  problems.storable('/system', system);
  if (Buffer.byteLength(system) > MAX_SYSTEM_BYTES) problems.add('/system', 'must be at most 256 KiB long');
}

/** A version keeps what it runs with, whatever a later release has as its default. */
function withPermission({ name, permission }: Tool): Tool {
  return { name, permission: permission === '' && isToolName(name) ? TOOLS[name].permission : permission };
}

function checkTools(tools: readonly Tool[], problems: Problems): void {
  const known = new Set<string>();
  for (const [index, { name, permission }] of tools.entries()) {
    const pointer = `/tools${step(index)}`;
    if (!isToolName(name)) problems.add(`${pointer}/name`, 'names a tool that does not exist');
    else if (known.has(name)) problems.add(`${pointer}/name`, 'is listed before');
    known.add(name);
    if (permission !== '') problems.oneOf(`${pointer}/permission`, permission, PERMISSIONS);
  }
}

function checkMetadata(metadata: Readonly<Record<string, string>>, problems: Problems): void {
  const entries = Object.entries(metadata);
  if (entries.length > MAX_METADATA) {
    problems.add('/metadata', `must have at most ${MAX_METADATA} members`);
    return;
  }
  for (const [key, value] of entries) {
    if (!problems.storable('/metadata', key)) continue;
    if (key === '' || [...key].length > MAX_KEY) {
      problems.add('/metadata', `must have names of 1–${MAX_KEY} characters`);
      continue;
    }
    problems.characters(`/metadata${step(key)}`, value, 0, 500);
  }
}
