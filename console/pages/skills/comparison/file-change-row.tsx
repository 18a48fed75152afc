import { ChevronRight } from 'lucide-react';
import { useId, useState } from 'react';
import type { SkillVersionRef } from '../../../api/skills.ts';
import { FileName } from '../../../parts/files/file-name.tsx';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { formatBytes } from '../../../ui/bytes.ts';
import type { FileChange } from './file-changes.ts';
import { TextChange } from './text-change.tsx';

export interface FileChangeRowProps {
  change: FileChange;
  old: SkillVersionRef;
  now: SkillVersionRef;
  isOpenAtFirst: boolean;
}

const KINDS: Record<FileChange['kind'], { text: string; tone: Tone }> = {
  added: { text: 'Added', tone: 'good' },
  removed: { text: 'Removed', tone: 'bad' },
  changed: { text: 'Changed', tone: 'accent' },
  mode: { text: 'Mode changed', tone: 'warn' },
};

/** A file that differs. Opening it loads both texts and shows their differences. */
export function FileChangeRow({ change, old, now, isOpenAtFirst }: FileChangeRowProps) {
  const { path, kind, before, after } = change;
  const hasText = kind !== 'mode';
  const [isOpen, setOpen] = useState(isOpenAtFirst && hasText);
  const content = useId();
  const { text, tone } = KINDS[kind];
  const title = (
    <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1">
      <span className="min-w-0 font-mono text-[13px]">
        <FileName text={path} />
      </span>
      <Badge tone={tone}>{text}</Badge>
      <ModeChange change={change} />
      <span className="text-[13px] text-muted tabular-nums">
        {[before, after].flatMap((file) => (file ? [formatBytes(file.size)] : [])).join(' → ')}
      </span>
    </span>
  );
  return (
    <li className="border-b border-line last:border-b-0">
      {hasText ? (
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={content}
          onClick={() => setOpen(!isOpen)}
          className="flex w-full items-center gap-2 px-3 py-2 text-start -outline-offset-2 hover:bg-sunken"
        >
          <ChevronRight
            aria-hidden
            className={isOpen ? 'size-4 shrink-0 rotate-90 text-muted' : 'size-4 shrink-0 text-muted'}
          />
          {title}
        </button>
      ) : (
        <div className="flex px-3 py-2 ps-9">{title}</div>
      )}
      <div id={content} className="empty:hidden px-3 pb-3">
        {isOpen && <TextChange change={change} old={old} now={now} />}
      </div>
    </li>
  );
}

/** Whether a file is, or has become, a program. */
function ModeChange({ change: { before, after } }: { change: FileChange }) {
  if (after === undefined || (before?.executable ?? false) === after.executable) return null;
  if (!after.executable) return <Badge>No longer executable</Badge>;
  return <Badge tone="warn">{before ? 'Now executable' : 'Executable'}</Badge>;
}
