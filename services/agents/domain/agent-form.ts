import { FieldProblems } from '../../../lib/field-problems.ts';
import { VISIBILITIES } from './access.ts';
import { type AgentRuntime, checkRuntime, normalizeRuntime } from './agent-runtime.ts';
import { checkExposure, checkProtocol, type Exposure } from './exposure.ts';
import { checkFirstModel, modelOf } from './model-list-field.ts';
import { checkModelOptionNames } from './model-options.ts';
import type { RuntimeContext } from './runtime-fields.ts';

/** The fields of an agent that a client sets. */
export interface AgentForm extends AgentRuntime {
  name: string;
  description: string;
  metadata: Record<string, string>;
  enabled: boolean;
  /** private | public | allowlist */
  visibility: string;
  exposure: Exposure;
}

/** The fields that a client changes. Absent fields and members of the exposure stay unchanged. */
export type AgentPatch = Partial<Omit<AgentForm, 'exposure'>> & { exposure?: Partial<Exposure> | undefined };

const FIRST_PAGE = { limit: 50, cursor: '' };

/** Returns the form as it is stored: the name trimmed, the runtime fields normalized, the model named. */
export function normalizeAgentForm<Given extends AgentPatch>(form: Given): Given {
  const model = modelOf(form);
  const normalized = {
    ...form,
    ...(model !== undefined && { model }),
    ...normalizeRuntime({ ...form, model }),
  };
  if (form.name !== undefined) normalized.name = form.name.trim();
  return normalized;
}

/**
 * Checks a normalized form, or the fields of a patch. Refused with INVALID_REQUEST or INVALID_TEXT, with details of all
 * problems.
 */
export function checkAgentForm(form: AgentPatch, context: RuntimeContext): void {
  const problems = new FieldProblems();
  const { name, description, model, modelOptionsJson, metadata, visibility, exposure } = form;
  if (name !== undefined) problems.characters('/name', name, 1, 200);
  if (description !== undefined) problems.characters('/description', description, 0, 2_000);
  checkRuntime(form, problems, context);
  checkFirstModel(form, problems);
  if (model !== undefined && modelOptionsJson !== undefined)
    checkModelOptionNames(model, modelOptionsJson, problems);
  if (metadata !== undefined) problems.metadata(metadata);
  if (visibility !== undefined) problems.oneOf('/visibility', visibility, VISIBILITIES);
  if (exposure !== undefined) checkExposure(exposure, problems);
  problems.throwIfAny();
}

/** Returns the requested page, or the first page by default. Refused with INVALID_REQUEST for an invalid page size. */
export function checkPage<Page extends { limit: number }>(page: Page | undefined): Page | typeof FIRST_PAGE {
  const problems = new FieldProblems();
  if (page) problems.range('/limit', page.limit, 1, 100);
  problems.throwIfAny();
  return page ?? FIRST_PAGE;
}

/** Refused with INVALID_REQUEST for a search text that is longer than any name, and for an unknown protocol. */
export function checkSearch(q: string, exposedTo?: string): void {
  const problems = new FieldProblems();
  problems.characters('/q', q, 0, 200);
  checkProtocol(exposedTo, problems);
  problems.throwIfAny();
}
