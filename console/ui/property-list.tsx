import type { ReactNode } from 'react';

export interface PropertyListItem {
  name: string;
  value: ReactNode;
  /** Spans all columns. */
  wide?: boolean;
}

/** Names and values in columns. */
export function PropertyList({ facts }: { facts: readonly PropertyListItem[] }) {
  return (
    <dl className="grid gap-x-8 gap-y-3.5 p-4 sm:grid-cols-2 sm:p-5 2xl:grid-cols-3">
      {facts.map(({ name, value, wide }) => (
        <div key={name} className={wide ? 'min-w-0 sm:col-span-full' : 'min-w-0'}>
          <dt className="text-[13px] text-muted">{name}</dt>
          <dd className="mt-0.5 wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
