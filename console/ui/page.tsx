import type { ReactNode } from 'react';
import { classes } from './classes.ts';

export interface PageProps {
  title: string;
  /** One sentence that describes the page. */
  lead?: ReactNode;
  /** Link to the parent page. */
  above?: ReactNode;
  actions?: ReactNode;
  /** Uses the full width. */
  wide?: boolean;
  children: ReactNode;
}

/** Frame of every page. Its title is the first content for screen readers. */
export function Page({ title, lead, above, actions, wide, children }: PageProps) {
  return (
    <div
      className={classes('mx-auto w-full px-4 py-5 sm:px-8 sm:py-7', wide ? 'max-w-[1600px]' : 'max-w-6xl')}
    >
      <title>{`${title} · Agent Hosting Service`}</title>
      {above && <div className="mb-1 text-[13px] text-muted">{above}</div>}
      <div className="mb-5 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          <h1
            tabIndex={-1}
            dir="auto"
            title={title}
            className="line-clamp-3 text-xl font-semibold tracking-tight wrap-anywhere outline-none"
          >
            {title}
          </h1>
          {lead && <div className="mt-0.5 text-muted">{lead}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A bordered part of a page. */
export function Card({ className, children }: { className?: string; children: ReactNode }) {
  return <div className={classes('rounded-xl border border-line bg-surface', className)}>{children}</div>;
}
