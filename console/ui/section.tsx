import type { ReactNode } from 'react';

export interface SectionProps {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}

/** A part of a long form: what it is about on the one side, its fields on the other. */
export function Section({ title, lead, children }: SectionProps) {
  return (
    <section className="grid gap-x-8 gap-y-3 border-t border-line py-6 first:border-0 first:pt-2 lg:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
      <div>
        <h2 className="font-semibold">{title}</h2>
        {lead && <div className="mt-0.5 max-w-prose text-[13px] text-muted">{lead}</div>}
      </div>
      <div className="flex min-w-0 flex-col gap-4">{children}</div>
    </section>
  );
}

/** A switch in a form, with what it means beside it. */
export function Choice({ text, hint, children }: { text: string; hint?: ReactNode; children: ReactNode }) {
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <div className="font-medium" aria-hidden>
          {text}
        </div>
        {hint && <div className="text-[13px] text-muted">{hint}</div>}
      </div>
      {children}
    </div>
  );
}
