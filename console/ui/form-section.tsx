import type { ReactNode } from 'react';

export interface FormSectionProps {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}

/** Section of a long form: title and description beside the fields. */
export function FormSection({ title, lead, children }: FormSectionProps) {
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

/** A switch in a form with its label and hint. */
export function SwitchRow({ text, hint, children }: { text: string; hint?: ReactNode; children: ReactNode }) {
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
