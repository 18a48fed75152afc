import { Progress as Base } from '@base-ui/react/progress';

/** How far something has got, from 0 to 1. */
export function Progress({ label, part }: { label: string; part: number }) {
  return (
    <Base.Root aria-label={label} value={Math.round(part * 100)} className="w-full">
      <Base.Track className="h-1.5 overflow-hidden rounded-full bg-sunken">
        <Base.Indicator className="h-full rounded-full bg-accent-fill transition-[width] motion-reduce:transition-none" />
      </Base.Track>
    </Base.Root>
  );
}
