import { lazy, memo, Suspense } from 'react';
import { loadChunk } from '../navigation/load-chunk.ts';

// The parser is as large as the rest of a page, so it loads with the first message.
const MarkdownText = lazy(() => loadChunk(() => import('./markdown-text.tsx')));

export interface MarkdownViewProps {
  text: string;
  /** The text is still growing. */
  isStreaming?: boolean;
}

/** Rendered Markdown. Shows the source text until the parser has loaded. */
export const MarkdownView = memo(function MarkdownView({ text, isStreaming = false }: MarkdownViewProps) {
  return (
    <div className="prose" dir="auto">
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <MarkdownText text={text} isStreaming={isStreaming} />
      </Suspense>
    </div>
  );
});
