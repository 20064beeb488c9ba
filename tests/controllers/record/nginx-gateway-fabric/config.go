package main

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// The servers of nginx.conf, and what is included in them.
type config struct {
	// Directives outside of servers.
	http   []string
	blocks []block
	files  map[string]string
	// The rate of each zone.
	rates map[string]string
}

// A server, and its locations.
type block struct {
	directives []string
	locations  map[string][]string
}

var (
	opens = regexp.MustCompile(`^(server|location) ?(.*) \{$`)
	zone  = regexp.MustCompile(`zone=([^:; ]+)`)
	rate  = regexp.MustCompile(`rate=([^ ;]+)`)
)

func servers(files map[string]string) config {
	out := config{files: files, rates: map[string]string{}}
	for name, text := range files {
		if !strings.Contains(name, "/includes/") {
			continue
		}
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "limit_req_zone ") {
				out.rates[zone.FindStringSubmatch(line)[1]] = rate.FindStringSubmatch(line)[1]
			}
		}
	}
	var server *block
	location := ""
	for _, line := range strings.Split(files["/etc/nginx/conf.d/http.conf"], "\n") {
		line = strings.TrimSpace(line)
		if found := opens.FindStringSubmatch(line); found != nil {
			if found[1] == "server" {
				server = &block{locations: map[string][]string{}}
			} else if server != nil {
				location = found[2]
				server.locations[location] = []string{}
			}
			continue
		}
		switch {
		case line == "}" && location != "":
			location = ""
		case line == "}" && server != nil:
			out.blocks = append(out.blocks, *server)
			server = nil
		case line == "":
		case server == nil:
			out.http = append(out.http, line)
		case location != "":
			server.locations[location] = append(server.locations[location], line)
		default:
			server.directives = append(server.directives, line)
		}
	}
	return out
}

// Directives of policies, by the name of the setting.
var recorded = map[string]string{
	"client_max_body_size": "body", "keepalive_requests": "requests", "keepalive_time": "time",
	"proxy_connect_timeout": "connect", "proxy_read_timeout": "read", "proxy_buffering": "buffering",
	"limit_req": "rate", "limit_req_status": "rejectCode",
}

// The settings at a rule: those of its location, those of its server that the location does not set, and those of the http block that
// neither sets, as NGINX inherits them.
func (c config) at(p placeOfRule) object {
	settings := object{}
	path, host := pathOf(p.rule), p.route["spec"].(object)["hostnames"].(list)[0]
	for _, server := range c.blocks {
		has := func(directive string) bool {
			for _, line := range server.directives {
				if line == directive {
					return true
				}
			}
			return false
		}
		lines, ok := server.locations[path]
		if !ok || !has(fmt.Sprintf("server_name %s;", host)) || !(has(fmt.Sprintf("listen %d;", p.listener["port"])) || has(fmt.Sprintf("listen %d default_server;", p.listener["port"]))) {
			continue
		}
		own := c.included(lines)
		for _, above := range [][]string{server.directives, c.http} {
			for name, values := range c.included(above) {
				if _, ok := own[name]; !ok {
					own[name] = values
				}
			}
		}
		isGrpc := strings.Contains(p.name, " GRPCRoute/")
		for name, values := range own {
			// Requests go to backends by grpc_pass, whose module has directives of its own (nginx.org, ngx_http_grpc_module).
			if !(isGrpc && strings.HasPrefix(name, "proxy_")) {
				settings[recorded[name]] = values
			}
		}
	}
	return settings
}

// The directives of policies in the files that these lines include.
func (c config) included(lines []string) map[string]list {
	found := map[string]list{}
	for _, line := range lines {
		file, ok := strings.CutPrefix(line, "include ")
		if !ok {
			continue
		}
		for _, line := range strings.Split(c.files[strings.TrimSuffix(file, ";")], "\n") {
			name, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ";"), " ")
			if recorded[name] == "" {
				continue
			}
			switch name {
			case "limit_req":
				value = c.rates[zone.FindStringSubmatch(value)[1]]
			case "proxy_buffering":
				// The field is buffering.disable.
				value = fmt.Sprint(value == "off")
			}
			found[name] = append(found[name], value)
			// The order of files is that of a map.
			sort.Slice(found[name], func(i, j int) bool { return found[name][i].(string) < found[name][j].(string) })
		}
	}
	return found
}
