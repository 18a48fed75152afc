import type { ReactNode } from 'react';
import { Code } from './code.tsx';

export interface EmptyStateProps {
  icon: ReactNode;
  /** One sentence. */
  children: ReactNode;
  /** One button. */
  action?: ReactNode;
  /** The same action as a curl command. */
  curl?: string | undefined;
}

/** Shown in place of missing content, with a next step. */
export function EmptyState({ icon, children, action, curl }: EmptyStateProps) {
  return (
    <div className="mx-auto flex w-full max-w-xl flex-col items-center gap-3 px-4 py-12 text-center">
      <div aria-hidden className="rounded-2xl bg-sunken p-3 text-muted [&_svg]:size-6">
        {icon}
      </div>
      <p className="text-balance text-muted">{children}</p>
      {action}
      {curl && (
        <div className="mt-2 w-full text-start">
          <Code text={curl} label="curl command" />
        </div>
      )}
    </div>
  );
}
