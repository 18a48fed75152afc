import { CircleArrowRight, CircleCheck, CircleDashed } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SetupStep } from '../../../gen/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { classes } from '../../../ui/classes.ts';
import { Code } from '../../../ui/code.tsx';

export const STEP_ROW = 'flex gap-3 border-b border-line px-4 py-3 last:border-b-0';

/** A step at the product. A finished step keeps its details behind a button. */
export function Step({ step, isNext }: { step: SetupStep; isNext: boolean }) {
  const hasDetails = step.url !== null || step.content !== null;
  return (
    <li
      className={classes(STEP_ROW, isNext && 'bg-accent-soft')}
      {...(isNext ? { 'aria-current': 'step' } : {})}
    >
      <Mark isDone={step.done} isNext={isNext} />
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <div className="flex items-start justify-between gap-3">
          <p className={classes('min-w-0 wrap-anywhere', isNext && 'font-medium', step.done && 'text-muted')}>
            {step.instruction}
          </p>
          {isNext && <Badge tone="accent">Next</Badge>}
        </div>
        {step.done && hasDetails ? (
          <details>
            <summary className="w-fit cursor-pointer text-[13px] text-muted">Show details</summary>
            <div className="mt-2">
              <Details step={step} />
            </div>
          </details>
        ) : (
          <Details step={step} />
        )}
      </div>
    </li>
  );
}

function Details({ step: { url, content, name } }: { step: SetupStep }) {
  return (
    <div className="flex flex-col gap-2 empty:hidden">
      {url !== null && (
        <a
          href={url}
          target="_blank"
          rel="noreferrer"
          className="font-medium text-accent wrap-anywhere hover:underline"
        >
          {url}
        </a>
      )}
      {content !== null && content !== url && (
        <Code text={content} label={`Text for ${name.replaceAll('_', ' ')}`} />
      )}
    </div>
  );
}

export function Mark({ isDone, isNext = false }: { isDone: boolean; isNext?: boolean }) {
  if (isDone)
    return (
      <StepIcon text="Done">
        <CircleCheck className="size-5 text-good" aria-hidden />
      </StepIcon>
    );
  const Shape = isNext ? CircleArrowRight : CircleDashed;
  return (
    <StepIcon text="Not done">
      <Shape className={classes('size-5', isNext ? 'text-accent' : 'text-muted')} aria-hidden />
    </StepIcon>
  );
}

export function StepIcon({ text, children }: { text: string; children: ReactNode }) {
  return (
    <span className="shrink-0 pt-0.5">
      {children}
      <span className="sr-only">{text}.</span>
    </span>
  );
}
