import type { DisplayedField } from '../diff/fields.ts';

/** Read-only list of fields. */
export function FieldList({ fields }: { fields: readonly DisplayedField[] }) {
  return (
    <dl className="divide-y divide-line rounded-xl border border-line bg-surface">
      {fields.map(({ label, text }) => (
        <div key={label} className="grid gap-x-6 px-4 py-2.5 sm:grid-cols-[10rem_minmax(0,1fr)]">
          <dt className="text-muted">{label}</dt>
          <dd dir="auto" className="wrap-anywhere whitespace-pre-wrap">
            {text === '' ? <span className="text-muted">None</span> : text}
          </dd>
        </div>
      ))}
    </dl>
  );
}
