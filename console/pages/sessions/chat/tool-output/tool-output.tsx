import type { ToolCall } from '../../../../journal/chat.ts';
import { outputText } from '../../../../parts/text/json.ts';
import { Code } from '../../../../ui/code.tsx';
import { LazyStoredParts } from '../attachments/lazy-stored-parts.tsx';
import { contentPartsOf } from './content-parts.ts';
import { outputParts } from './output-parts.ts';

/** The output of a tool call, or the part that a running tool has printed. Text of stderr is marked. */
export function ToolOutput({ call, sessionId }: { call: ToolCall; sessionId: string }) {
  const { name, output, progress, state, stderrRanges } = call;
  const content = contentPartsOf(output);
  if (content)
    return (
      <div>
        {content.text !== '' && <Code wrap text={content.text} label={`Output of ${name}`} />}
        <LazyStoredParts parts={content.parts} sessionId={sessionId} />
      </div>
    );
  const text = output === undefined ? progress : outputText(output);
  if (text === '') return state === 'done' ? <p className="text-[13px] text-muted">No output.</p> : null;
  const label = `Output of ${name}`;
  if (typeof output !== 'string' || stderrRanges.length === 0) return <Code wrap text={text} label={label} />;
  return (
    <div className="flex flex-col gap-1">
      <Code wrap text={text} label={label}>
        {outputParts(text, stderrRanges).map((part, index) =>
          part.isStderr ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by their position
            <span key={index} className={MARK}>
              <span className="sr-only select-none">stderr: </span>
              {part.text}
            </span>
          ) : (
            part.text
          ),
        )}
      </Code>
      <p className="text-xs text-muted">
        <span className={MARK}>Marked</span> text was printed to stderr.
      </p>
    </div>
  );
}

const MARK = 'rounded-sm bg-warn-soft text-warn box-decoration-clone';
