import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { callsSinceUser, countWords, lastUserText, toolTexts, usageOf } from './prompt.ts';

const PROMPT = '$ ';
const TOOL = 'bash';

/**
 * `rehearsal/shell` runs every line of the last user message that begins with `$ ` with the tool bash, in order and one
 * call per step, and then answers with the output. It has no state of its own: its position follows from the number of
 * tool calls in the prompt.
 */
export function createShell(): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'rehearsal',
    modelId: 'shell',
    supportedUrls: {},
    async doGenerate() {
      throw new Error('rehearsal models only stream');
    },
    async doStream({ prompt }) {
      const commands = commandsIn(lastUserText(prompt));
      const { calls, userMessages } = callsSinceUser(prompt);
      const command = commands[calls];
      const text = commands.length === 0 ? NOTHING : toolTexts(prompt).filter(Boolean).join('\n');
      const content: LanguageModelV4StreamPart[] =
        command === undefined
          ? [
              { type: 'text-start', id: '0' },
              { type: 'text-delta', id: '0', delta: text },
              { type: 'text-end', id: '0' },
            ]
          : [
              {
                type: 'tool-call',
                toolCallId: `call_${userMessages}_${calls + 1}`,
                toolName: TOOL,
                input: JSON.stringify({ command }),
              },
            ];
      const parts: LanguageModelV4StreamPart[] = [
        { type: 'stream-start', warnings: [] },
        ...content,
        {
          type: 'finish',
          usage: usageOf(prompt, countWords(command ?? text)),
          finishReason: { unified: command === undefined ? 'stop' : 'tool-calls', raw: undefined },
        },
      ];
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
}

const NOTHING = 'No line of the message begins with "$ ", so there is nothing to run.';

function commandsIn(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith(PROMPT));
  return lines.map((line) => line.slice(PROMPT.length).trim()).filter(Boolean);
}
