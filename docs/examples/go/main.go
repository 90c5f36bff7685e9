// A service of the same family. GET /pantry tells whose token it got, DELETE wants two factors of just now.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	address := os.Getenv("REACHED_AT")
	if address == "" {
		address = os.Getenv("ISSUER")
	}
	verifier := &Verifier{
		Issuer:   os.Getenv("ISSUER"),
		Audience: os.Getenv("AUDIENCE"),
		Address:  strings.TrimSuffix(address, "/"),
		Grace:    10 * time.Second,
		Credential: func() (string, error) {
			text, err := os.ReadFile(os.Getenv("CREDENTIAL_FILE"))
			return string(text), err
		},
	}
	verifier.Start(context.Background())
	tell := func(w http.ResponseWriter, _ *http.Request, claims *Claims) {
		answer(w, http.StatusOK, map[string]string{"user_id": claims.UserID, "home_group_id": claims.HomeGroupID})
	}
	http.HandleFunc("GET /pantry", guarded(verifier, Requirements{}, tell))
	http.HandleFunc("DELETE /pantry", guarded(verifier, Requirements{MaxAge: 300, Level: "2"}, tell))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

type handler func(http.ResponseWriter, *http.Request, *Claims)

// guarded calls the handler with the claims of a good token that meets the requirements, and refuses all others.
func guarded(verifier *Verifier, required Requirements, next handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		claims, err := verifier.Verify(token)
		if !strings.EqualFold(scheme, "Bearer") {
			err = ErrInvalid
		}
		if err == nil {
			err = required.Check(claims)
		}
		switch {
		case err == nil:
			next(w, r, claims)
		case errors.Is(err, ErrUnavailable):
			w.Header().Set("Retry-After", "2")
			refuse(w, http.StatusServiceUnavailable, err, map[string]any{})
		case errors.Is(err, ErrStepUp):
			challenge, details := required.Challenge()
			w.Header().Set("WWW-Authenticate", challenge)
			refuse(w, http.StatusUnauthorized, err, details)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			refuse(w, http.StatusUnauthorized, err, map[string]any{})
		}
	}
}

func refuse(w http.ResponseWriter, status int, err error, details map[string]any) {
	answer(w, status, map[string]any{"error_code": err.Error(), "message": "Refused.", "details": details})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
