import type { ReactNode } from 'react';
import Markdown from 'react-markdown';
import gfm from 'remark-gfm';

const PLUGINS = [gfm];

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

/** The page has its own headings, of which these are parts: they begin below them, and look like what they were. */
const heading =
  (Tag: 'h3' | 'h4' | 'h5' | 'h6', look?: string) =>
  ({ id, className, children }: HeadingProps) => (
    <Tag id={id} className={className ?? look}>
      {children}
    </Tag>
  );

const HEADINGS = {
  h1: heading('h3', 'text-[1.25em]'),
  h2: heading('h4', 'text-[1.12em]'),
  h3: heading('h5'),
  h4: heading('h6'),
  h5: heading('h6'),
  h6: heading('h6'),
};

/** HTML in it is shown as text, pictures as links: what a model says loads nothing and runs nothing. */
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
  // The marks of a list stand where its words begin.
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <figure dir="ltr" aria-label="Code" tabIndex={0}>
      <pre>{children}</pre>
    </figure>
  ),
};

export default function MarkdownText({ text }: { text: string }) {
  return (
    <Markdown remarkPlugins={PLUGINS} components={PARTS}>
      {text}
    </Markdown>
  );
}
