import { Progress as Base } from '@base-ui/react/progress';

/** Progress bar; `fraction` is from 0 to 1. */
export function Progress({ label, fraction }: { label: string; fraction: number }) {
  return (
    <Base.Root aria-label={label} value={Math.round(fraction * 100)} className="w-full">
      <Base.Track className="h-1.5 overflow-hidden rounded-full bg-sunken">
        <Base.Indicator className="h-full rounded-full bg-accent-fill transition-[width] motion-reduce:transition-none" />
      </Base.Track>
    </Base.Root>
  );
}
