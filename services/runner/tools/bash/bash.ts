import { StringDecoder } from 'node:string_decoder';
import { type Static, Type } from 'typebox';
import type { Clock } from '../../../../lib/clock.ts';
import type { WorkspaceTree } from '../../sandbox/workspace-tree.ts';
import type { CommandRunner, CompletedCommand } from '../../sandbox-pool/run-command.ts';
import { type ToolCallContext, ToolOutput } from '../../tool-calls/tool-call.ts';
import { notesOf } from './notes.ts';
import { excerptOf, type OutputExcerpt, outputFile } from './output-excerpt.ts';
import { Transcript } from './transcript.ts';

/** Bytes of the output that are kept. */
const KEPT_BYTES = 1024 * 1024;
/** A command that prints more bytes is killed. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const OUTPUT_DIRECTORY = '.outputs';

const Input = Type.Object(
  {
    command: Type.String({
      minLength: 1,
      description: 'A bash script. Its working directory is the workspace.',
    }),
    timeout_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description: 'A shorter time limit than that of the environment.',
      }),
    ),
  },
  { additionalProperties: false },
);

/**
 * Runs a command in the sandbox of the session. The result is the combined output in the order in which it was printed,
 * followed by notes in brackets. Without a note about its end, the command exited with 0.
 */
export function createBash(runCommand: CommandRunner, clock: Clock) {
  return {
    outcomeUnknown: 'tell' as const,
    hasOwnTimeout: true,
    usesWorkspace: true,
    input: Input,
    async run({ command, timeout_seconds: timeoutSeconds }: Static<typeof Input>, call: ToolCallContext) {
      const transcript = new Transcript(KEPT_BYTES);
      const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
      const path = `${OUTPUT_DIRECTORY}/${call.toolUseId.replace(/[^\w-]/g, '_').slice(0, 100)}.txt`;
      const excerpt = () =>
        excerptOf(transcript, `The middle of ${transcript.bytes} bytes is left out; see ${path}`);
      const completed = await runCommand(
        {
          script: command,
          timeoutSeconds,
          maxOutputBytes: MAX_OUTPUT_BYTES,
          output(bytes, stream) {
            transcript.add(bytes, stream);
            call.progress(decoders[stream].write(Buffer.from(bytes)));
          },
          async writeFiles(tree) {
            if (excerpt().isCut) await writeOutputFile(tree, path, transcript, clock);
          },
        },
        call,
      );
      return toToolOutput(excerpt(), completed);
    },
  };
}

async function writeOutputFile(
  tree: WorkspaceTree,
  path: string,
  transcript: Transcript,
  clock: Clock,
): Promise<void> {
  await tree.makeDirectory(OUTPUT_DIRECTORY);
  async function* bytes() {
    yield* outputFile(transcript);
  }
  await tree.putFile(path, bytes(), { executable: false, modifiedAt: clock.now() });
}

function toToolOutput({ text, stderrRanges }: OutputExcerpt, completed: CompletedCommand): ToolOutput {
  const { notes, isError } = notesOf(completed);
  const lines = notes.map((note) => `[${note}]`).join('\n');
  const gap = text === '' || text.endsWith('\n') || lines === '' ? '' : '\n';
  return new ToolOutput(`${text}${gap}${lines}`, {
    isError,
    workspaceVersion: completed.commit?.version,
    exitCode: completed.result.exitCode ?? undefined,
    stderrRanges,
  });
}
