import type { ReactNode } from 'react';
import Markdown from 'react-markdown';
import gfm from 'remark-gfm';

const PLUGINS = [gfm];

/** HTML in it is shown as text, pictures as links: what a model says loads nothing and runs nothing. */
const PARTS = {
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
  pre: ({ children }: { children?: ReactNode }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre tabIndex={0}>{children}</pre>
  ),
};

export default function MarkdownText({ text }: { text: string }) {
  return (
    <Markdown remarkPlugins={PLUGINS} components={PARTS}>
      {text}
    </Markdown>
  );
}
