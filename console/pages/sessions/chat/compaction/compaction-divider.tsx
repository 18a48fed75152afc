import { ChevronRight, FoldVertical } from 'lucide-react';
import { lazy, Suspense, useId, useState } from 'react';
import { compactionText, compactionTokensText } from '../../../../journal/compaction-text.ts';
import { loadChunk } from '../../../../parts/navigation/load-chunk.ts';
import { classes } from '../../../../ui/classes.ts';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import type { CompactionProps } from './compaction-props.ts';

const CompactionDetails = lazy(async () => ({
  default: (await loadChunk(() => import('./compaction-details.tsx'))).CompactionDetails,
}));

/** The place at which the model's view of the conversation changed. It opens to the summary and the moved outputs. */
export function CompactionDivider(props: CompactionProps) {
  const { data } = props.compaction;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className={classes(
          'flex w-full items-center gap-3 rounded text-[13px] before:h-px before:min-w-4 before:flex-1 before:bg-line after:h-px after:min-w-4 after:flex-1 after:bg-line hover:text-ink [&_svg]:size-3.5 [&_svg]:shrink-0',
          data.fallback ? 'text-warn' : 'text-muted',
        )}
      >
        <FoldVertical className="max-sm:hidden" aria-hidden />
        <span className="text-balance">
          {compactionText(data)}&nbsp;·{' '}
          <span className="whitespace-nowrap">{compactionTokensText(data)}</span>
        </span>
        <ChevronRight className={classes('transition-transform', isOpen && 'rotate-90')} aria-hidden />
      </button>
      {isOpen && (
        <div id={id} className="mt-3">
          <Suspense fallback={<Skeleton lines={4} />}>
            <CompactionDetails {...props} />
          </Suspense>
        </div>
      )}
    </div>
  );
}
