import type { CallOptions, Client } from '../../../../lib/grpc/contract.ts';
import { skillPrompt } from '../../../../lib/skill-prompt.ts';
import { TOOLS, type ToolName } from '../../../../lib/tools.ts';
import type { AgentsServiceDefinition, PinnedSkill } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { SKILLS_PATH } from '../../sandbox/variables.ts';
import type { Toolbox } from '../toolbox.ts';
import { LOAD_SKILL } from './load-skill.ts';

/**
 * Returns those of the pinned skills that are enabled now. Rejects with a retryable Refusal when the agents service does not
 * answer. Asks it only if there are skills.
 */
export async function enabledSkills(
  agents: Pick<Client<AgentsServiceDefinition>, 'lookUpSkills'>,
  pinned: readonly PinnedSkill[],
  call: CallOptions,
): Promise<PinnedSkill[]> {
  if (pinned.length === 0) return [];
  const { skills } = await agents.lookUpSkills({ skillIds: pinned.map(({ id }) => id) }, call);
  const enabled = new Set(skills.filter((skill) => skill.enabled).map(({ skillId }) => skillId));
  return pinned.filter(({ id }) => enabled.has(id));
}

/** Whether turns with these tools offer skills. */
export function mayOfferSkills(toolbox: Toolbox): boolean {
  return toolbox.find(LOAD_SKILL) !== undefined && toolbox.permissionOf(LOAD_SKILL) !== 'deny';
}

/**
 * Returns the settings of a turn that offers skills: their names and descriptions, and the tool that reads them.
 * `inSandboxes` states whether commands of this runner see the files of skills.
 */
export function offerSkills<Runtime extends { system: string; toolbox: Toolbox }>(
  runtime: Runtime,
  skills: readonly PinnedSkill[],
  inSandboxes: boolean,
): Runtime {
  const { system, toolbox } = runtime;
  const tool = toolbox.find(LOAD_SKILL);
  if (skills.length === 0 || !tool || !mayOfferSkills(toolbox)) return runtime;
  const definitions = toolbox.definitions.includes(tool.definition)
    ? toolbox.definitions
    : [...toolbox.definitions, tool.definition];
  const location = inSandboxes && canRunCommands(toolbox) ? LOCATION : '';
  const texts = [system, `${INTRODUCTION}${location}\n${skillPrompt(skills)}`].filter((text) => text !== '');
  return { ...runtime, system: texts.join('\n\n'), toolbox: { ...toolbox, definitions } };
}

/** A client tool or a tool of a later release may have the name of the tool that runs commands. */
function canRunCommands(toolbox: Toolbox): boolean {
  const tool = toolbox.find(BASH);
  return (
    tool !== undefined && 'kind' in tool && tool.kind === TOOLS.bash && toolbox.permissionOf(BASH) !== 'deny'
  );
}

const BASH = 'bash' satisfies ToolName;
const INTRODUCTION = `These skills hold instructions for certain tasks. Before such a task, read the skill with ${LOAD_SKILL}.`;
const LOCATION = ` Commands of ${BASH} see the files of a skill read-only in ${SKILLS_PATH}/<name>.`;
