/** The pages of vaults load together, because a user of one opens the others next. */
export { NewVaultPage } from './new.tsx';
export { VaultPage } from './vault.tsx';
export { VaultsPage } from './vaults.tsx';
