import { lazy, memo, Suspense } from 'react';
import { piece } from '../piece.ts';

// As large as the rest of a page, and needed only where somebody has said something.
const MarkdownText = lazy(() => piece(() => import('./markdown-text.tsx')));

/** What somebody has written in Markdown; as it stands until the parser has come. */
export const MarkdownView = memo(function MarkdownView({ text }: { text: string }) {
  return (
    <div className="prose" dir="auto">
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <MarkdownText text={text} />
      </Suspense>
    </div>
  );
});
