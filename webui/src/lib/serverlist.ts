// SPDX-License-Identifier: GPL-2.0-or-later
// Servers as lines of text: "web-1 10.0.1.11:8080 zone-a". Pure.
export interface Parsed { servers: Record<string, {address: string; port?: number; zone?: string}>; fault: string }

const ENDPOINT = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)|([0-9a-fA-F]*:[0-9a-fA-F:.]+))(?::(\d+))?$/

export function parseServers(text: string): Parsed {
	const servers: Parsed['servers'] = {}
	const lines = text.split('\n').map(l => l.trim()).filter(Boolean)
	for (const [i, line] of lines.entries()) {
		const [name, endpoint, zone] = line.split(/\s+/)
		const found = ENDPOINT.exec(endpoint ?? '')
		if (!name || !found) return {servers, fault: `line ${i + 1}: "name address:port" is expected`}
		if (servers[name]) return {servers, fault: `line ${i + 1}: ${name} is there twice`}
		servers[name] = {address: (found[1] ?? found[2] ?? found[3])!, ...(found[4] ? {port: Number(found[4])} : {}), ...(zone ? {zone} : {})}
	}
	return {servers, fault: ''}
}
