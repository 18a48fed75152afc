import { memo, type ReactNode, useState } from 'react';
import Markdown from 'react-markdown';
import { gfm } from './gfm.ts';
import { orderHeadings } from './heading-levels.ts';
import { MarkdownSplitter } from './markdown-blocks.ts';
import { useSteadyText } from './use-steady-text.ts';

const PLUGINS = [gfm, orderHeadings];

interface ListProps {
  start?: number | undefined;
  className?: string | undefined;
  children?: ReactNode;
}

interface HeadingProps {
  id?: string | undefined;
  className?: string | undefined;
  children?: ReactNode;
}

/** Headings in Markdown are below the headings of the page. */
const heading =
  (Tag: 'h3' | 'h4' | 'h5' | 'h6') =>
  ({ id, className, children }: HeadingProps) => (
    <Tag id={id} className={className}>
      {children}
    </Tag>
  );

const HEADINGS = {
  h1: heading('h3'),
  h2: heading('h4'),
  h3: heading('h5'),
  h4: heading('h6'),
  h5: heading('h6'),
  h6: heading('h6'),
};

/** Shows HTML as text and images as links, so that text of a model neither loads nor runs anything. */
const PARTS = {
  ...HEADINGS,
  a: ({ href, children }: { href?: string | undefined; children?: ReactNode }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: ({ src, alt }: { src?: string | Blob | undefined; alt?: string | undefined }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer noopener">
      {alt || (typeof src === 'string' ? src : 'image')}
    </a>
  ),
  // The text direction also positions the list markers.
  ul: ({ className, children }: ListProps) => (
    <ul dir="auto" className={className}>
      {children}
    </ul>
  ),
  ol: ({ start, className, children }: ListProps) => (
    <ol dir="auto" start={start} className={className}>
      {children}
    </ol>
  ),
  pre: ({ children }: { children?: ReactNode }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <figure dir="ltr" aria-label="Code" tabIndex={0}>
      <pre>{children}</pre>
    </figure>
  ),
};

interface MarkdownTextProps {
  text: string;
  isStreaming: boolean;
}

export default function MarkdownText({ text, isStreaming }: MarkdownTextProps) {
  // A text that was streamed here stays divided into blocks, so that its end does not parse it again.
  const [wasStreamed] = useState(isStreaming);
  return wasStreamed ? <StreamedText text={text} isStreaming={isStreaming} /> : <Block source={text} />;
}

function StreamedText({ text, isStreaming }: MarkdownTextProps) {
  return <Blocks text={useSteadyText(text, isStreaming)} isStreaming={isStreaming} />;
}

const Blocks = memo(function Blocks({ text, isStreaming }: MarkdownTextProps) {
  const [splitter] = useState(() => new MarkdownSplitter());
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only appended
  return splitter.split(text, !isStreaming).map((source, index) => <Block key={index} source={source} />);
});

const Block = memo(function Block({ source }: { source: string }) {
  return (
    <Markdown remarkPlugins={PLUGINS} components={PARTS}>
      {source}
    </Markdown>
  );
});
