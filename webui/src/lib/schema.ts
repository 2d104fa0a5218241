// SPDX-License-Identifier: GPL-2.0-or-later
// Forms are made from the schemas of openapi.json: each member of an object is a field with the bounds, the default and the
// help of the daemon's own table. Pure.
export interface Schema {
	type?: string | string[]; enum?: (string | number)[]; properties?: Record<string, Schema>; required?: string[]; items?: Schema; description?: string
	default?: unknown; minimum?: number; maximum?: number; readOnly?: boolean; additionalProperties?: unknown; $ref?: string; maxLength?: number; maxItems?: number
}

/** `range`: two numbers, "8000-8100". */
export type Kind = 'text' | 'number' | 'flag' | 'choice' | 'list' | 'range'

export interface FieldSpec {
	pointer: string; name: string; group: string; kind: Kind; help: string; options: string[]; min?: number; max?: number; initial: unknown
	required: boolean; only?: Condition
}

/** The field is there only while a sibling has one of these values. */
export interface Condition { sibling: string; values: string[] }

export type Values = Record<string, string | boolean>

const OURS = new Set(['uid', 'revision', 'created_at', 'updated_at', 'status', 'name'])

/** "of the request; only with type http or https" → type, [http, https]. */
export function condition(description: string): Condition | undefined {
	const found = /only with (?:tunnel )?(type|scheduler|verify) (.+?)(?:;|$)/.exec(description)
	if (!found) return undefined
	return {sibling: found[1]!, values: found[2]!.match(/[\w-]+/g)!.filter(word => word !== 'or' && word !== 'and')}
}

export function resolve(schema: Schema, all: Record<string, Schema>): Schema {
	const name = schema.$ref?.split('/').pop()
	return name ? resolve(all[name] ?? {}, all) : schema
}

const typeOf = (s: Schema): string => (Array.isArray(s.type) ? s.type.find(t => t !== 'null') : s.type) ?? ''

function kindOf(s: Schema): Kind {
	if (s.enum) return 'choice'
	const type = typeOf(s)
	if (type === 'boolean') return 'flag'
	if (type === 'array' && s.maxItems === 2 && s.items?.type === 'integer') return 'range'
	if (type === 'array' || Array.isArray(s.default)) return 'list'
	return type === 'integer' || type === 'number' ? 'number' : 'text'
}

/** Fields of an object in the order of the schema; those of inner objects after it, each a group of its own. */
export function fieldsOf(schema: Schema, all: Record<string, Schema>, prefix = '', group = ''): FieldSpec[] {
	const own: FieldSpec[] = [], inner: FieldSpec[] = []
	for (const [name, raw] of Object.entries(schema.properties ?? {})) {
		const s = resolve(raw, all)
		const description = raw.description ?? s.description ?? ''
		const pointer = `${prefix}/${name}`
		if (raw.readOnly || s.readOnly || (prefix === '' && OURS.has(name)) || s.additionalProperties) continue
		if (s.properties) { inner.push(...fieldsOf(s, all, pointer, group ? `${group}.${name}` : name)); continue }
		if (typeOf(s) === 'object' || (s.items && resolve(s.items, all).properties)) continue
		own.push({
			pointer, name, group, kind: kindOf(s), help: description, options: (s.enum ?? []).map(String), min: s.minimum, max: s.maximum, initial: s.default,
			required: schema.required?.includes(name) ?? false, only: condition(description),
		})
	}
	return [...own, ...inner]
}

function at(object: unknown, pointer: string): unknown {
	return pointer.slice(1).split('/').reduce<unknown>((o, part) => (o !== null && typeof o === 'object' ? (o as Record<string, unknown>)[part] : undefined), object)
}

function toText(value: unknown, kind: Kind): string | boolean {
	if (kind === 'range' && Array.isArray(value)) return value.join('-')
	if (typeof value === 'boolean') return value
	if (Array.isArray(value)) return value.join(', ')
	return value === undefined || value === null ? '' : String(value)
}

/** A new object begins with the defaults, and with the first choice where one has to be made. */
const startOf = (f: FieldSpec): unknown => f.initial ?? (f.required && f.kind === 'choice' && !f.group ? f.options[0] : undefined)

export function readValues(fields: FieldSpec[], object: unknown): Values {
	return Object.fromEntries(fields.map(f => [f.pointer, toText(at(object, f.pointer) ?? (object ? undefined : startOf(f)), f.kind)]))
}

export function visible(f: FieldSpec, values: Values): boolean {
	if (!f.only) return true
	const folder = f.pointer.slice(0, f.pointer.lastIndexOf('/'))
	const value = values[`${folder}/${f.only.sibling}`]
	// A check without a type is one by TCP.
	return value === undefined || f.only.values.includes(value === '' ? 'tcp' : String(value))
}

/** What is sent for a field; undefined: it is not set. What is no number is sent as it was typed: the daemon says what it misses. */
export function toJson(f: FieldSpec, value: string | boolean | undefined): unknown {
	if (f.kind === 'flag') return value === '' || value === undefined ? undefined : value === true
	const text = String(value ?? '').trim()
	if (f.kind === 'list') return text === '' ? [] : text.split(/[\s,]+/).filter(Boolean)
	if (text === '') return undefined
	const ends = f.kind === 'range' && /^(\d+)\s*[-–,\s]\s*(\d+)$/.exec(text)
	if (ends) return [Number(ends[1]), Number(ends[2])]
	return f.kind === 'number' && /^-?\d+$/.test(text) ? Number(text) : text
}

function put(object: Record<string, unknown>, pointer: string, value: unknown): void {
	const parts = pointer.slice(1).split('/')
	const last = parts.pop()!
	let place = object
	for (const part of parts) place = (place[part] ??= {}) as Record<string, unknown>
	place[last] = value
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The object to create: what differs from the defaults. */
export function makeBody(fields: FieldSpec[], values: Values): Record<string, unknown> {
	const body: Record<string, unknown> = {}
	for (const f of fields) {
		if (!visible(f, values)) continue
		const value = toJson(f, values[f.pointer])
		if (value === undefined || (f.kind === 'list' && same(value, []) && !f.initial) || (!f.required && same(value, f.initial))) continue
		put(body, f.pointer, value)
	}
	return body
}

/** A merge patch with what was changed; what is no longer there is null. */
export function makePatch(fields: FieldSpec[], original: unknown, values: Values): Record<string, unknown> {
	const patch: Record<string, unknown> = {}
	const before = readValues(fields, original)
	for (const f of fields) {
		const there = at(original, f.pointer) !== undefined
		if (!visible(f, values)) { if (there) put(patch, f.pointer, null); continue }
		if (values[f.pointer] === before[f.pointer]) continue
		put(patch, f.pointer, toJson(f, values[f.pointer]) ?? null)
	}
	return patch
}
