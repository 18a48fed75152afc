import { Page } from '../../ui/page.tsx';

export function NewTriggerPage() {
  return <Page title="New trigger">{null}</Page>;
}
