import { Check } from 'lucide-react';
import { classes } from '../../../../ui/classes.ts';

const STEPS = [
  { step: 'create', text: 'Create replacement' },
  { step: 'switch', text: 'Switch sender' },
  { step: 'delete', text: 'Delete old webhook' },
] as const;

export type ReplacementStep = (typeof STEPS)[number]['step'] | 'done';

/** Progress of a replacement. */
export function ReplacementSteps({ current }: { current: ReplacementStep }) {
  const at = current === 'done' ? STEPS.length : STEPS.findIndex(({ step }) => step === current);
  return (
    <ol aria-label="Replacement steps" className="mb-4 flex flex-wrap gap-x-6 gap-y-2">
      {STEPS.map(({ step, text }, index) => (
        <li
          key={step}
          aria-current={index === at ? 'step' : undefined}
          className={classes(
            'flex items-center gap-2',
            index === at ? 'font-medium text-accent' : index < at ? 'text-good' : 'text-muted',
          )}
        >
          <span
            aria-hidden
            className="flex size-6 items-center justify-center rounded-full border border-current text-xs tabular-nums"
          >
            {index < at ? <Check className="size-3.5" /> : index + 1}
          </span>
          {text}
          {index < at && <span className="sr-only">, done</span>}
        </li>
      ))}
    </ol>
  );
}
