import { StringDecoder } from 'node:string_decoder';
import { type Static, Type } from 'typebox';
import type { Clock } from '../../../../lib/clock.ts';
import type { WorkspaceTree } from '../../sandbox/tree.ts';
import type { Carried, CommandLine } from '../../sandboxes/command.ts';
import { Answer, type ToolCall } from '../tool.ts';
import { notesOf } from './notes.ts';
import { fileOf, show } from './shown.ts';
import { Transcript } from './transcript.ts';

/** Of the output of one command: what is kept, and what ends it. */
const KEPT_BYTES = 1024 * 1024;
const MOST_BYTES = 64 * 1024 * 1024;
const OUTPUTS = '.outputs';

const Input = Type.Object(
  {
    command: Type.String({ minLength: 1, description: 'A script for bash. Its directory is the workspace.' }),
    timeout_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400, description: 'Ends it sooner than the environment does.' }),
    ),
  },
  { additionalProperties: false },
);

/**
 * Runs a command in the sandbox of the session. The model is told what it printed, in the order in which it came,
 * and behind it in brackets what else there is to know; without such a note it has ended with 0.
 */
export function createBash(carryOut: CommandLine, clock: Clock) {
  return {
    outcomeUnknown: 'tell' as const,
    endsItself: true,
    usesWorkspace: true,
    input: Input,
    async run({ command, timeout_seconds: timeoutSeconds }: Static<typeof Input>, call: ToolCall) {
      const printed = new Transcript(KEPT_BYTES);
      const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
      const path = `${OUTPUTS}/${call.toolUseId.replace(/[^\w-]/g, '_').slice(0, 100)}.txt`;
      const shown = () => show(printed, `The middle of ${printed.bytes} bytes is left out; see ${path}`);
      const carried = await carryOut(
        {
          script: command,
          timeoutSeconds,
          maxOutputBytes: MOST_BYTES,
          output(bytes, stream) {
            printed.add(bytes);
            call.progress(decoders[stream].write(Buffer.from(bytes)));
          },
          async add(tree) {
            if (shown().isCut) await putOutput(tree, path, printed, clock);
          },
        },
        call,
      );
      return answerOf(shown().text, carried);
    },
  };
}

async function putOutput(
  tree: WorkspaceTree,
  path: string,
  printed: Transcript,
  clock: Clock,
): Promise<void> {
  await tree.makeDirectory(OUTPUTS);
  async function* bytes() {
    yield* fileOf(printed);
  }
  await tree.putFile(path, bytes(), { executable: false, modifiedAt: clock.now() });
}

function answerOf(text: string, carried: Carried): Answer {
  const { notes, isError } = notesOf(carried);
  const lines = notes.map((note) => `[${note}]`).join('\n');
  const gap = text === '' || text.endsWith('\n') || lines === '' ? '' : '\n';
  return new Answer(`${text}${gap}${lines}`, { isError, workspaceVersion: carried.commit?.version });
}
