import type { ReactNode } from 'react';
import { Copyable } from '../../ui/code.tsx';

export interface ResourceLeadProps {
  /** Kind of the resource, within a sentence: agent, MCP server. */
  noun: string;
  id: string;
  description?: string | null;
  /** State and other short facts. */
  children: ReactNode;
}

/** Description, state and id of a resource below the title of its page. */
export function ResourceLead({ noun, id, description, children }: ResourceLeadProps) {
  return (
    <>
      {description && (
        <p dir="auto" className="wrap-anywhere">
          {description}
        </p>
      )}
      <div className="mt-1 flex flex-wrap items-center gap-2">
        {children}
        <Copyable text={id} label={`Copy ${noun} ID`} />
      </div>
    </>
  );
}
