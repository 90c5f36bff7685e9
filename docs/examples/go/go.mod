module example.com/pantry

go 1.23

require github.com/golang-jwt/jwt/v5 v5.3.1
