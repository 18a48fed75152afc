import type { ReviewedMcpTool } from '../../../gen/index.ts';
import { objectText } from '../../../parts/diff/fields.ts';
import { WordDiff } from '../../../parts/diff/word-diff.tsx';
import { VisibleText } from '../../../parts/text/visible-text.tsx';
import { Code } from '../../../ui/code.tsx';
import type { ComparedTool } from './decisions.ts';

/** The members of a tool that are not its description, as text. */
function membersOf(tool: ReviewedMcpTool) {
  return [
    { label: 'Title', text: tool.title },
    { label: 'Input schema', text: objectText(tool.input_schema) },
    { label: 'Output schema', text: tool.output_schema === null ? '' : objectText(tool.output_schema) },
    { label: 'Annotations', text: objectText(tool.annotations) },
  ];
}

/** The texts of a tool. Changed ones are shown as differences to the review; the others are collapsed. */
export function ToolTexts({ compared: { tool, before } }: { compared: ComparedTool }) {
  const earlier = before && membersOf(before);
  return (
    <div className="flex flex-col gap-2">
      <div dir="auto" className="max-h-60 overflow-y-auto wrap-anywhere whitespace-pre-wrap">
        {before && before.description !== tool.description ? (
          <WordDiff before={before.description} after={tool.description} />
        ) : tool.description === '' ? (
          <span className="text-muted">No description.</span>
        ) : (
          <VisibleText text={tool.description} />
        )}
      </div>
      {membersOf(tool).map(({ label, text }, index) => {
        const was = earlier?.[index]?.text ?? text;
        if (was !== text)
          return (
            <div key={label}>
              <p className="mb-1 text-[13px] font-medium">{label}</p>
              <Code text={text} label={`${label} of ${tool.name}, compared with the review`} wrap>
                <WordDiff before={was} after={text} />
              </Code>
            </div>
          );
        if (text === '') return null;
        return (
          <details key={label}>
            <summary className="w-fit cursor-pointer text-[13px] text-muted hover:text-ink">{label}</summary>
            <Code text={text} label={`${label} of ${tool.name}`} className="mt-1">
              <VisibleText text={text} />
            </Code>
          </details>
        );
      })}
    </div>
  );
}
