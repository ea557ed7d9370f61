export const SECONDS: Readonly<Record<string, number>>;
export const TABLE: string;
