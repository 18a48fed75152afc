import { useId } from 'react';
import { sentenceOf } from '../../../parts/errors/error-state.tsx';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/page.tsx';

export interface ExtensionItem {
  id: string;
  /** Empty for a deleted resource. */
  name: string;
  state: string;
  /** Empty when the extension can be used. */
  reason: string;
  detail: string;
}

/** Tones of the states that need no action of a person. The others need one. */
const TONES: Record<string, Tone> = { ready: 'good', disabled: 'plain', deleted: 'bad' };

export interface ExtensionListProps {
  title: string;
  items: readonly ExtensionItem[];
  none: string;
}

export function ExtensionList({ title, items, none }: ExtensionListProps) {
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <h3 id={heading} className="mb-1 font-medium">
        {title}
      </h3>
      {items.length === 0 ? (
        <p className="text-muted">{none}</p>
      ) : (
        <Card>
          <ul aria-labelledby={heading}>
            {items.map(({ id, name, state, reason, detail }) => (
              <li key={id} className="border-b border-line px-4 py-2.5 last:border-b-0">
                <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <span className="min-w-0 flex-1 basis-32 font-medium wrap-anywhere">{name || id}</span>
                  <span className="min-w-0 text-[13px] text-muted wrap-anywhere">{detail}</span>
                  <Badge tone={TONES[state] ?? 'warn'}>{state}</Badge>
                </div>
                {reason && <p className="text-[13px] text-muted wrap-anywhere">{sentenceOf(reason)}</p>}
              </li>
            ))}
          </ul>
        </Card>
      )}
    </section>
  );
}
