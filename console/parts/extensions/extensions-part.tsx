import { type ReactNode, useId } from 'react';

export interface ExtensionsPartProps {
  title: string;
  lead: string;
  children: ReactNode;
}

/** The servers or the skills of an agent or assistant. */
export function ExtensionsPart({ title, lead, children }: ExtensionsPartProps) {
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading} className="font-semibold">
        {title}
      </h2>
      <p className="mb-2 text-[13px] text-muted">{lead}</p>
      {children}
    </section>
  );
}
