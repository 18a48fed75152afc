import { type Static, Type } from 'typebox';
import { Refusal } from '../../../../lib/errors.ts';
import type { ToolName } from '../../../../lib/tools.ts';
import type { ToolCallContext } from '../../tool-calls/tool-call.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import { SkillClient } from '../../workspace/skill-client.ts';
import type { FilesClient } from '../../workspace/workspace-client.ts';

export const LOAD_SKILL = 'load_skill' satisfies ToolName;

const MAX_BYTES = 64 * 1024;
const MAX_LISTED = 200;
const MAIN = 'SKILL.md';

const Input = Type.Object(
  {
    name: Type.String({ description: 'The name of the skill.' }),
    path: Type.Optional(
      Type.String({ description: `A file of the skill, for example references/forms.md. Default: ${MAIN}.` }),
    ),
  },
  { additionalProperties: false },
);

/** Reads a file of a skill of the turn. Needs no sandbox. */
export function createLoadSkill(files: FilesClient) {
  return {
    input: Input,
    async run({ name, path = MAIN }: Static<typeof Input>, { turn, signal }: ToolCallContext) {
      const { skills = [] } = turn;
      const skill = skills.find((one) => one.name === name);
      if (!skill) throw new ToolError(`There is no skill ${JSON.stringify(name)}. ${available(skills)}`);
      const client = new SkillClient(files, skill, turn, signal);
      const text = await read(client, path);
      return path === MAIN ? `${text}\n\n${await listing(client)}` : text;
    },
  };
}

function available(skills: readonly { name: string }[]): string {
  return skills.length === 0 ? 'There are none.' : `There are ${skills.map(({ name }) => name).join(', ')}.`;
}

async function read(client: SkillClient, path: string): Promise<string> {
  const bytes = await client.read(path, MAX_BYTES).catch((error: unknown) => {
    throw error instanceof Refusal && (error.code === 'FILE_NOT_FOUND' || error.code === 'INVALID_REQUEST')
      ? new ToolError(`The skill has no file ${JSON.stringify(path)}.`)
      : error;
  });
  if (bytes.length > MAX_BYTES) throw new ToolError(`${path} has more than 64 KiB, the limit of this tool.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ToolError(`${path} is no UTF-8 text.`);
  }
}

/** Names the other files, so that the model can read them. */
async function listing(client: SkillClient): Promise<string> {
  const paths: string[] = [];
  for await (const { path, kind } of client.list())
    if (kind === 'file' && path !== MAIN && paths.push(path) > MAX_LISTED) break;
  if (paths.length === 0) return `[The skill has no other files.]`;
  const more = paths.length > MAX_LISTED ? ['…'] : [];
  return `[Other files of the skill, for the member path of this tool:]\n${[...paths.slice(0, MAX_LISTED), ...more].join('\n')}`;
}
